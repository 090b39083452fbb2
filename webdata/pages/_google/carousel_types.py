"""The types of carousels: terms in their titles over languages, endings of attributes, and sites of posts."""

from collections.abc import Mapping

from webdata.domain.records import CarouselType

TITLE_TERMS: Mapping[CarouselType, tuple[str, ...]] = {
    "generic": (
        "saying", "posts from", "forum", "discussion", "perspective", "meinungen", "was andere", "beiträge von",
        "disent", "dice la gente", "opiniones", "cosa dicono", "dizem", "debates", "フォーラム", "意見", "포럼",
        "论坛", "論壇", "ฟอรัม", "форум", "diskus",
    ),
    "top_stories": (
        "top stories", "in the news", "latest news", "schlagzeilen", "a la une", "à la une", "noticias destacadas",
        "noticias principales", "notizie principali", "in primo piano", "principais noticias",
        "principais notícias", "destaques", "hoofdnieuws", "belangrijkste nieuws", "トップニュース", "주요 뉴스",
        "焦点新闻", "焦點新聞", "頭條新聞", "ข่าวเด่น", "เรื่องเด่น", "главные новости", "najwazniejsze artykuly",
        "najważniejsze artykuły", "en çok okunan haberler", "toppnyheter", "topphistorier", "tophistorier",
        "tin bài hàng đầu", "tin hàng đầu", "berita utama", "artikel berita teratas", "أهم الأخبار",
        "मुख्य समाचार", "головні новини", "hlavní zprávy", "vezető hírek", "știri de top",
    ),
    "videos": (
        "video", "vidéo", "vídeo", "動画", "동영상", "视频", "影片", "วิดีโอ", "видео", "відео", "wideo", "filmy",
        "فيديو", "वीडियो",
    ),
    "images": (
        "image", "imágenes", "imagens", "immagini", "bilder", "afbeeldingen", "画像", "이미지", "图片", "圖片",
        "รูปภาพ", "картинки", "grafika", "görseller", "hình ảnh", "gambar",
    ),
    "products": (
        "product", "produkt", "produit", "producto", "prodotti", "produto", "商品", "상품", "สินค้า", "товары",
        "shop",
    ),
    "recipes": (
        "recipe", "rezept", "recette", "receta", "ricette", "receita", "レシピ", "레시피", "สูตรอาหาร", "рецепты",
        "przepisy",
    ),
    "events": (
        "event", "veranstaltung", "événement", "evento", "eventi", "イベント", "행사", "กิจกรรม", "мероприятия",
    ),
}  # fmt: skip
"""Terms in titles, lower case; `generic` is first, since its titles may contain terms of the other types."""

FACT_ENDINGS: Mapping[str, CarouselType] = {
    ":cast": "people", "sideways": "people", "movies": "movies", "films": "movies", "events": "events",
}  # fmt: skip
"""Endings of the `data-attrid` of a carousel about an entity, and its type."""

SOCIAL_SITES = {
    "youtube.com": "youtube", "instagram.com": "instagram", "facebook.com": "facebook", "tiktok.com": "tiktok",
    "twitter.com": "twitter", "x.com": "x", "reddit.com": "reddit", "quora.com": "quora", "threads.net": "threads",
    "threads.com": "threads", "linkedin.com": "linkedin", "pinterest.com": "pinterest",
}  # fmt: skip
"""Sites of posts, and their names: a carousel that mostly links to them is no news."""
