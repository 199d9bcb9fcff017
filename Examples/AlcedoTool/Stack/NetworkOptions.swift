import Alcedo
import AlcedoCore
import ExampleSupport
import FoundationEssentials

/// How `alcedo load` fetches: the options that are about servers, and the parts that obey them.
struct NetworkOptions: Sendable {
    /// Most loads at once may each hold a decoded image.
    static let connectionRange = 1...256

    static let help = """
          --max-connections N           at most N transfers at once (default: 6)
          --max-connections-per-host N  at most N at once from one host (default: no limit of its own)
          --retry N        try up to N times more where that may help, ever longer pauses between (default: 0)
          --timeout SECONDS
                           longest time until the first byte, and without a byte (default: 15; decimals allowed)
          --header 'Name: value'
                           send this with every request; may be repeated. A redirect to another origin takes only
                           along what can be no credential, such as Accept
          --ca FILE        trust the authorities in FILE (certificates in PEM), and no others
          --verbose, -v    a line for each exchange with a server as it ends: times, bytes, connection, attempt,
                           what was resumed, what the response cache did

        """

    private(set) var isVerbose = false
    private var connections: Int?
    private var connectionsPerHost: Int?
    private var retries = 0
    private var timeout: Duration?
    private var headers: [HeaderOption] = []
    private var authorities: String?

    /// Takes an option and its value. Returns false for one that is about something else.
    mutating func take(_ option: String, from arguments: inout Arguments) throws -> Bool {
        switch option {
        case "--verbose", "-v": isVerbose = true
        case "--max-connections": connections = try arguments.number(of: option, in: Self.connectionRange)
        case "--max-connections-per-host":
            connectionsPerHost = try arguments.number(of: option, in: Self.connectionRange)
        case "--retry": retries = try arguments.number(of: option, in: 0...100)
        case "--timeout": timeout = try arguments.seconds(of: option)
        case "--header": headers.append(try HeaderOption(arguments.value(of: option)))
        case "--ca": authorities = try arguments.value(of: option)
        default: return false
        }
        return true
    }

    /// Loads that are to be under way at once, so that the limit can be reached.
    func width(atLeast width: Int) -> Int { max(width, connections ?? 0) }

    /// The request as it is to be sent.
    func apply(to request: ImageRequest) -> ImageRequest {
        var request = HeaderOption.add(headers, to: request)
        guard case .http(var http) = request.source, let timeout else { return request }
        (http.idleTimeout, http.firstByteTimeout) = (timeout, timeout)
        request.source = .http(http)
        return request
    }

    /// - Parameters:
    ///   - parts: Where the beginnings of broken transfers are kept; nil keeps them within the run only.
    ///   - downloads: How many there may be, each of which may use up its own retries.
    ///   - log: Is told of exchanges; nil: nobody.
    /// - Throws: When the authorities cannot be read.
    func downloader(parts: (any DataCaching)?, downloads: Int, log: TransferLog?) throws -> Downloader {
        var network = CURLTransport.Options()
        if let connections { network.connections = connections }
        if let limit = connectionsPerHost ?? connections { network.connectionsPerHost = limit }
        if let authorities { network.authorities = .pem(try CertificateFile.read(authorities)) }
        var configuration = Downloader.Configuration()
        if let connections { configuration.maximumConcurrentDownloads = connections }
        if let connectionsPerHost { configuration.maximumConcurrentDownloadsPerHost = connectionsPerHost }
        configuration.rules.retry = RetryPolicy(maximumAttempts: retries + 1)
        configuration.rules.retryBudget = RetryBudget(share: Double(retries), burst: max(20, retries * downloads))
        configuration.rules.redirects.hook = { [headers] in HeaderOption.keepSecrets($0, $1, of: headers) }
        configuration.rules.resume?.storage = parts
        return .standard(configuration: configuration, network: network) { log?.watching($0) ?? $0 }
    }
}
