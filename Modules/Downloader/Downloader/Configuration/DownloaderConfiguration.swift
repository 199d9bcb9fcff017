/// How a downloader works.
public struct DownloaderConfiguration: Sendable {
    /// Most transfers at once. Default: 6.
    public var maxConcurrentDownloads: Int
    /// Most transfers at once from one scheme, host and port. Default: no limit but the one above.
    public var maxConcurrentDownloadsPerHost: Int
    /// Which of equally urgent downloads begins first. Default: the first.
    public var order: QueueOrder
    /// How often transfers may begin. Default: as often as there are slots.
    public var rate: DownloadRate?
    /// What is done with requests and answers: limits, timeouts, hooks, retries, what broke off.
    public var rules = DownloadRules()
    /// Runs the tasks of the downloader, and its reading and writing of files in place of threads of its own: for tests,
    /// with the `ManualExecutor` of `AlcedoTesting`. Default: nil, Swift's own executor and threads of the downloader.
    public var taskExecutor: (any TaskExecutor)?

    /// By default 6 transfers at once, of at most 128 MiB and 20 redirects each. No number of transfers is below 1.
    public init(
        maxConcurrentDownloads: Int = 6,
        maxConcurrentDownloadsPerHost: Int = .max,
        order: QueueOrder = .firstInFirstOut,
        rate: DownloadRate? = nil,
        maximumByteCount: Int = 128 << 20,
        maximumRedirectCount: Int = 20
    ) {
        self.maxConcurrentDownloads = max(1, maxConcurrentDownloads)
        self.maxConcurrentDownloadsPerHost = max(1, maxConcurrentDownloadsPerHost)
        self.order = order
        self.rate = rate
        self.maximumByteCount = maximumByteCount
        self.maximumRedirectCount = maximumRedirectCount
    }

    /// Most bytes of one content. Default: 128 MiB.
    package var maximumByteCount: Int {
        get { rules.maximumByteCount }
        set { rules.maximumByteCount = max(0, newValue) }
    }

    /// Most redirects in a row. Default: 20.
    package var maximumRedirectCount: Int {
        get { rules.maximumRedirectCount }
        set { rules.maximumRedirectCount = max(0, newValue) }
    }
}

/// Which of equally urgent downloads begins first.
public enum QueueOrder: Sendable, Hashable {
    /// In the order they were asked for.
    case firstInFirstOut
    /// The one that was asked for last: for a list that is scrolled, in which the old is out of sight.
    case lastInFirstOut
}

/// How often transfers may begin.
public struct DownloadRate: Sendable, Hashable {
    /// On the average.
    package var perSecond: Double
    /// At once, after a rest.
    package var burst: Int

    /// A number of beginnings in a second, and how many of them may come at once.
    public init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}
