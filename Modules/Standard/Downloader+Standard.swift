public import AlcedoCURL
public import AlcedoCodecs
public import AlcedoCore
public import AlcedoDownloader
public import AlcedoURLResponseCache

extension Downloader {
    /// The default way to servers: libcurl, a response cache in memory around it, and the downloader.
    ///
    /// Requests without an `Accept` of their own name the formats of `codecs`, then any image; another `Accept` among the
    /// configuration's default fields stays.
    ///
    /// - Parameters:
    ///   - configuration: Limits, timeouts, retries, what is done with what broke off.
    ///   - codecs: The formats that are decoded. Default: every format of the package.
    ///   - network: Connections, TLS, proxies.
    ///   - responses: Where HTTP answers are kept. Default: in memory, at most 16 MiB.
    ///   - watch: Puts something around the transport that the downloader uses, the response cache included, such as a
    ///     log. Default: nothing.
    public static func standard(
        configuration: Configuration = Configuration(),
        codecs: CodecRegistry = .standard,
        network: CURLTransport.Options = CURLTransport.Options(),
        responses: URLResponseCache = URLResponseCache(memoryCapacity: 16 << 20),
        watch: (any HTTPTransport) -> any HTTPTransport = { $0 }
    ) -> Downloader {
        let transport = CachingTransport(wrapping: CURLTransport(options: network), cache: responses)
        var configuration = configuration
        if configuration.rules.defaultFields["Accept"] == DownloadRules.anyImage {
            configuration.rules.defaultFields["Accept"] = codecs.acceptFieldValue
        }
        return Downloader(transport: watch(transport), configuration: configuration)
    }
}
