import FoundationEssentials

/// What a peer is to do.
struct DownloadJob: Sendable {
    let what: DownloadCase
    /// What a number is put behind to make a URL.
    let base: String
    /// The certificates to trust, in PEM.
    let authorityFile: URL?

    func urls(_ count: Int, from first: Int) -> [URL] {
        (first..<first + count).compactMap { URL(string: "\(base)\($0)") }
    }

    func check(_ body: Data, from name: String) throws {
        guard body.count == what.byteCount else {
            throw BenchError(description: "\(name) got \(body.count) of \(what.byteCount) bytes")
        }
    }

    /// Calls `work` for each URL, so many at once as the case says.
    func time(_ urls: [URL], _ work: @escaping @Sendable (URL) async throws -> Void) async throws -> Duration {
        let each = try await BenchTable.microseconds(urls.count, width: what.width) { try await work(urls[$0]) }
        return .microseconds(each * Double(urls.count))
    }
}
