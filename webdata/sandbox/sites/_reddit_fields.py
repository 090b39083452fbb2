"""The fields of Reddit's things (https://www.reddit.com/dev/api) of 2026 that are the same for all invented ones."""

from typing import Any

Data = dict[str, Any]

SHARED_FIELDS: Data = {
    "all_awardings": [], "approved_at_utc": None, "approved_by": None, "archived": False,
    "author_flair_background_color": None, "author_flair_css_class": None, "author_flair_richtext": [],
    "author_flair_template_id": None, "author_flair_text": None, "author_flair_text_color": None,
    "author_flair_type": "text", "author_is_blocked": False, "author_patreon_flair": False, "author_premium": False,
    "awarders": [], "banned_at_utc": None, "banned_by": None, "can_gild": False, "can_mod_post": False,
    "distinguished": None, "downs": 0, "edited": False, "gilded": 0, "gildings": {}, "likes": None, "locked": False,
    "mod_note": None, "mod_reason_by": None, "mod_reason_title": None, "mod_reports": [], "no_follow": False,
    "num_reports": None, "removal_reason": None, "report_reasons": None, "saved": False, "send_replies": True,
    "stickied": False, "subreddit_type": "public", "top_awarded_type": None, "total_awards_received": 0,
    "treatment_tags": [], "user_reports": [],
}  # fmt: skip
"""Of posts and comments."""

POST_FIELDS: Data = {
    **SHARED_FIELDS,
    "allow_live_comments": False, "category": None, "clicked": False, "content_categories": None,
    "contest_mode": False, "discussion_type": None, "hidden": False, "hide_score": False,
    "is_created_from_ads_ui": False,
    "is_crosspostable": True, "is_meta": False, "is_original_content": False, "is_robot_indexable": True,
    "is_video": False, "link_flair_background_color": "", "link_flair_css_class": None, "link_flair_richtext": [],
    "link_flair_text": None, "link_flair_text_color": "dark", "link_flair_type": "text", "media": None,
    "media_embed": {}, "media_only": False, "num_crossposts": 0, "over_18": False, "pinned": False, "pwls": 6,
    "quarantine": False, "removed_by": None, "removed_by_category": None, "secure_media": None,
    "secure_media_embed": {}, "spoiler": False, "suggested_sort": None, "thumbnail_height": None,
    "thumbnail_width": None, "view_count": None, "visited": False, "wls": 6,
}  # fmt: skip

COMMENT_FIELDS: Data = {
    **SHARED_FIELDS,
    "associated_award": None, "collapsed": False, "collapsed_because_crowd_control": None, "collapsed_reason": None,
    "collapsed_reason_code": None, "comment_type": None, "controversiality": 0, "score_hidden": False,
    "unrepliable_reason": None,
}  # fmt: skip

SUBREDDIT_FIELDS: Data = {
    "accept_followers": True, "accounts_active": None, "accounts_active_is_fuzzed": False, "active_user_count": None,
    "advertiser_category": "", "all_original_content": False, "allow_discovery": True, "allow_galleries": True,
    "allow_images": True, "allow_polls": True, "allow_predictions": False, "allow_talks": False,
    "allow_videogifs": True, "allow_videos": True, "allowed_media_in_comments": [], "banner_background_color": "",
    "banner_background_image": "", "banner_img": "", "banner_size": None, "can_assign_link_flair": False,
    "can_assign_user_flair": False, "coins": 0, "collapse_deleted_comments": True, "collections_enabled": True,
    "comment_contribution_settings": {}, "comment_score_hide_mins": 0, "community_reviewed": False,
    "disable_contributor_requests": False, "emojis_custom_size": None, "emojis_enabled": False,
    "event_posts_enabled": True, "free_form_reports": True, "has_menu_widget": False, "header_img": None,
    "header_size": None, "header_title": "", "hide_ads": False, "icon_img": "", "icon_size": None,
    "is_crosspostable_subreddit": True, "is_enrolled_in_new_modmail": None, "key_color": "", "lang": "en",
    "link_flair_enabled": True, "link_flair_position": "right", "mobile_banner_image": "", "notification_level": None,
    "original_content_tag_enabled": False, "over18": False, "primary_color": "", "public_traffic": False,
    "quarantine": False, "restrict_commenting": False, "restrict_posting": True, "should_archive_posts": False,
    "show_media": True, "show_media_preview": True, "spoilers_enabled": True, "submission_type": "any",
    "submit_link_label": "", "submit_text": "", "submit_text_html": None, "submit_text_label": "",
    "subreddit_type": "public", "suggested_comment_sort": None, "user_can_flair_in_sr": None,
    "user_flair_background_color": None, "user_flair_css_class": None, "user_flair_enabled_in_sr": False,
    "user_flair_position": "right", "user_flair_richtext": [], "user_flair_template_id": None, "user_flair_text": None,
    "user_flair_text_color": None, "user_flair_type": "text", "user_has_favorited": None, "user_is_banned": None,
    "user_is_contributor": None, "user_is_moderator": None, "user_is_muted": None, "user_is_subscriber": None,
    "user_sr_flair_enabled": None, "user_sr_theme_enabled": True, "videostream_links_count": 0,
    "whitelist_status": "all_ads", "wiki_enabled": True, "wls": 6,
}  # fmt: skip

USER_FIELDS: Data = {
    "accept_chats": True, "accept_followers": True, "accept_pms": True, "awardee_karma": 0, "awarder_karma": 0,
    "has_subscribed": True, "has_verified_email": True, "hide_from_robots": False, "icon_img": "",
    "is_blocked": False, "is_employee": False, "is_friend": False, "is_gold": False, "is_mod": False,
    "pref_show_snoovatar": False, "snoovatar_img": "", "snoovatar_size": None, "verified": True,
}  # fmt: skip
