"""Scrapy's settings. Each deviation from a default has a comment with the default and the reason."""

from scrapy.settings import default_settings

from webdata.config.config import Config

_config = Config.of_scrapy()

BOT_NAME = "webdata"
SPIDER_MODULES = ["webdata.spiders"]
NEWSPIDER_MODULE = "webdata.spiders"
# Scrapy's own: an engine that cannot be imported would take all others along.
SPIDER_LOADER_CLASS = "webdata.crawling.engine_loader.EngineLoader"

# Ours: whether requests go to the sandbox, where it is, and what it answers from.
SANDBOX = _config.sandbox == "always"
SANDBOX_URL = _config.sandbox_url
SANDBOX_REPLAY = _config.sandbox_replay
# Ours: what resolves names there, where nothing is looked up.
SANDBOX_RESOLVER = "webdata.sandbox.names.sandbox_resolver"
# Ours: seconds that one query may take, all of its fetches together.
DEADLINE = _config.deadline
# Ours: where pages of unknown layout are stored; None stores none.
SAMPLES = _config.samples
# Ours: the folder of the archive that every exchange is written into; None writes none.
RECORD = _config.record
# Ours: what stores the publishers' addresses behind news links (a LinkStore): a class, and its arguments.
RESOLVED_LINKS = ("webdata.stores.accounts.sql.SqlLinks", _config.links_database)
# Ours: the same in the sandbox, whose links are invented.
SANDBOX_RESOLVED_LINKS = ("webdata.stores.ephemeral.links_memory.MemoryLinks",)
# Ours: the APIs that are asked beside the engines' own sites, and the engines of each resource, in their order.
UPSTREAMS = _config.upstreams
ENGINE_ORDERS = _config.engine_orders
# Ours: the key for OpenAlex (None: without one), and a mail address for Crossref.
OPENALEX_KEY = _config.openalex_key
CONTACT = _config.contact
# Ours: the application at Reddit, its id and its secret (None: without one), and that of the sandbox.
REDDIT_CLIENT = (_config.reddit_client_id, _config.reddit_client_secret)
SANDBOX_REDDIT_CLIENT = ("sandbox", "sandbox")
# Ours: the transports; one that is not installed is left out.
TRANSPORTS = _config.transports
CHROMIUM = _config.chromium
# Ours: a browser that runs elsewhere, and how many pages may be open in a browser at once.
BROWSER_URL = _config.browser_url
BROWSER_PAGES = _config.browser_pages
# Ours: the most attempts for a page, and the pauses between them in seconds, at random: up to BACKOFF before the second
# one, twice as much before each further one, up to BACKOFF_MAX.
MAX_STEPS = _config.max_steps
BACKOFF = _config.backoff
BACKOFF_MAX = _config.backoff * 10
# Ours: answers captchas, an async function(response, error) -> Request | None.
CAPTCHA_HOOK = _config.captcha_hook
# Ours: whether the egress guard checks all downloads, by the operator's rule and the spider's sites; off in tests only.
EGRESS_GUARD = True
EGRESS_PORTS = _config.egress_ports
EGRESS_ALLOW = _config.egress_allow
# Ours: bytes of the longest page that a URL of a caller's may have, decompressed.
URL_MAX_BYTES = _config.url_max_bytes
# Ours: whether a page that is large stays compressed until the spider reads it.
LARGE_PAGES_COMPRESSED = False
# Ours: the proxies of each region, whether the sandbox is reached through them too (they are its own then), and whether
# queries for a region without any are refused.
PROXIES = _config.proxies
SANDBOX_PROXIES = _config.sandbox == "always"
REGION_MODE = _config.region_mode
# latin-1: the encoding of a proxy's user and password; browsers and curl use UTF-8.
HTTPPROXY_AUTH_ENCODING = "utf-8"
# Ours: the file of a batch's queries without a record; %(output)s is its first output file without the suffix.
FAILURES_FEED = "%(output)s.failures.jsonl"

# Scrapy's `crawl` reports wrong arguments by a traceback, with exit status 1; its `parse` cannot run engines.
COMMANDS_MODULE = "webdata.crawling.jobs"
ADDONS = {
    "webdata.crawling.jobs.failures.FailuresFeed": 500,
    "webdata.crawling.jobs.own_resources.OwnFetchResources": 500,
    "webdata.downloadermiddlewares.sandbox.SandboxTrust": 500,
}
# All of Scrapy's own: these two are off below, and to import them all the same takes 8 MB of each process.
EXTENSIONS_BASE = {
    name: place
    for name, place in default_settings.EXTENSIONS_BASE.items()
    if not name.startswith(("scrapy.extensions.remote_control.", "scrapy.extensions.telnet."))
}
EXTENSIONS = {
    "scrapy.extensions.feedexport.FeedExporter": None,  # ours resumes
    "webdata.crawling.jobs.feeds.JobFeedExporter": 0,
    "webdata.crawling.jobs.failures.RefusedItems": 500,
    "webdata.crawling.samples.SampleUnknownLayouts": 500,
    "scrapy.extensions.logstats.LogStats": None,  # it knows pages, not queries
    "webdata.crawling.jobs.progress.Progress": 500,
    "scrapy.extensions.spiderstate.SpiderState": None,  # the journal in JOBDIR is the only state of a job
}
FEED_EXPORTERS = {
    "jsonl": "webdata.crawling.jobs.exporters.JsonLinesExporter",
    "jsonlines": "webdata.crawling.jobs.exporters.JsonLinesExporter",
    "jl": "webdata.crawling.jobs.exporters.JsonLinesExporter",
    "rows": "webdata.crawling.jobs.exporters.RowsExporter",
    "csv": "webdata.crawling.jobs.exporters.CsvExporter",
    "xml": None,  # Scrapy's own writes None as text, and the repr of what is nested
}
# Scrapy's own stores requests in JOBDIR, where a kill loses some and a resumed batch would run others twice.
SCHEDULER = "webdata.crawling.jobs.scheduler.MemoryScheduler"
# RFPDupeFilter: a query that is twice in a file is run twice, and nothing is to be stored in JOBDIR.
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"
# 2083: a query of 2048 characters makes a longer URL when it is escaped, and would be dropped silently.
URLLENGTH_LIMIT = 0
# DEBUG, which logs every record of a batch.
LOG_LEVEL = "INFO"
# Scrapy's own writes whole records into the log when one is refused.
LOG_FORMATTER = "webdata.crawling.jobs.log.QueryLogFormatter"
# Ours: settings of batches, unless -s overrides them. A site gets 16 requests at once from a batch (Scrapy: 8
# a site, 16 in all), not as many as there may be calls of the service (`webdata.crawling.warm_crawlers.own_settings`).
# No caller waits for a batch: its pauses may be longer.
BATCH_SETTINGS = {
    "CONCURRENT_ITEMS": 1,  # 100: Scrapy starts so many tasks for each response, and each has one item
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "BACKOFF_MAX": _config.backoff * 50,
}
# Accept and Accept-Language: devices have all headers, in their order.
DEFAULT_REQUEST_HEADERS: dict[str, str] = {}
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,  # our handler's rule heeds no dont_filter
    "webdata.downloadermiddlewares.blocked.BlockedMiddleware": 300,  # first: it stores the original requests
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,  # ours retries by outcome, not by status
    "webdata.downloadermiddlewares.device.DeviceMiddleware": 450,  # before the default user agent, 500
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,  # ours bounds the work
    "webdata.downloadermiddlewares.decompression.DecompressionMiddleware": 590,
    "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": None,  # ours fetches no list of domains
    "webdata.downloadermiddlewares.cookies.ShippedSuffixesCookiesMiddleware": 700,
    "webdata.downloadermiddlewares.caller_parts.CallerPartsMiddleware": 710,  # below all that redirect
    "webdata.downloadermiddlewares.sandbox.SandboxMiddleware": 740,  # before the proxies, 750
    "webdata.downloadermiddlewares.region.RegionMiddleware": 745,  # after the sandbox, whose proxy it replaces
    "webdata.downloadermiddlewares.deadline.DeadlineMiddleware": 840,  # last: nothing may take time after it
    "webdata.downloadermiddlewares.recording.RecordingMiddleware": 850,  # what the handler returns, as it was sent
}
# Ours wraps Scrapy's own, and adds the egress guard, a browser's TLS, and the browser.
DOWNLOAD_HANDLERS = {
    "http": "webdata.fetching.transports.handler.TransportsHandler",
    "https": "webdata.fetching.transports.handler.TransportsHandler",
    "data": None,  # Scrapy's own would read files of this machine, and hosts that the guard does not allow
    "file": None,
    "ftp": None,
    "s3": None,
}
ITEM_PIPELINES = {
    "webdata.pipelines.envelope.EnvelopePipeline": 100,
    "webdata.pipelines.validate.ValidatePipeline": 200,
}

# False: results of a site must be from that site.
DOWNLOAD_VERIFY_CERTIFICATES = True
# 1024 MB: no page that we read is near this; it bounds the cost of a hostile one.
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024
# True: result pages carry a refresh for browsers without scripts, which is not to be followed.
METAREFRESH_ENABLED = False
# False: an error page is judged by the spider, never just dropped.
HTTPERROR_ALLOW_ALL = True
# True: a console would be one more open port.
TELNETCONSOLE_ENABLED = False
# True: a port of every crawler that runs any Python it is sent by a user who can read a file in the home folder.
REMOTE_CONTROL_ENABLED = False
# None, which escapes all but ASCII: a batch's line is the same JSON as the API's answer.
FEED_EXPORT_ENCODING = "utf-8"
