import FoundationEssentials

/// Serves bodies of the sizes that are measured.
protocol BenchServer: Sendable {
    var name: String { get }
    /// The certificates to trust, in PEM; nil where there is no TLS.
    var authorityFile: URL? { get }
    /// What a number is put behind to make the URL of a body; nil for a case that the server has no part in.
    func base(for what: DownloadCase) -> String?
}
