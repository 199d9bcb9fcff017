import AlcedoCore
import FoundationEssentials

/// Reads sources that are not servers.
struct LocalReader: Sendable {
    /// Most bytes of a file that are held at once on their way.
    private static let pieceByteCount = 1 << 20

    let maximumByteCount: Int
    private let progressInterval: Duration
    private let time: any TimeSource
    private let files = BlockingExecutor(name: "alcedo.files", width: 2)

    init(rules: DownloadRules, time: any TimeSource) {
        (maximumByteCount, progressInterval) = (rules.maximumByteCount, rules.progressInterval)
        self.time = time
    }

    /// Puts the content of a source into an empty sink.
    ///
    /// - Parameter report: Called while bytes arrive, from any thread; must not block.
    /// - Throws: ``DownloadError``, or `CancellationError`.
    func read(
        _ source: ImageSource, into sink: inout some ContentSink,
        report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws {
        var meter = ProgressMeter(interval: progressInterval, time: time, report: report)
        switch source {
        case .http(let request):
            throw DownloadError(.invalidSource, "not a local source: \(request.url.shown)")
        case .file(let path): try await copy(path, into: &sink, &meter)
        case .dataURL(let text):
            try await pass(try await files.run { try DataURL.decode(text) }, to: &sink, &meter)
        case .bytes(let bytes, _): try await pass(bytes, to: &sink, &meter)
        case .provider(let identity, let provide):
            try await pass(try await provided(identity, provide), to: &sink, &meter)
        }
        guard sink.count > 0 else { throw DownloadError(.empty, "there are no bytes") }
    }

    private func provided(_ identity: String, _ provide: @Sendable () async throws -> Data) async throws -> Data {
        do {
            return try await provide()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw DownloadError(.provider, "the provider \(identity) failed: \(error)", cause: error)
        }
    }

    private func pass(_ data: Data, to sink: inout some ContentSink, _ meter: inout ProgressMeter) async throws {
        guard data.count <= maximumByteCount else {
            throw DownloadError(.tooLarge, "the source has \(data.count) bytes, more than \(maximumByteCount)")
        }
        meter.mark(DownloadProgress(received: 0, expected: data.count))
        try await sink.append(data)
        meter.mark(DownloadProgress(received: data.count, expected: data.count))
    }

    /// Reads to the end, wherever that is.
    private func copy(_ path: String, into sink: inout some ContentSink, _ meter: inout ProgressMeter) async throws {
        // One byte more than expected finds the end.
        let (file, first, firstLimit) = try await files.run { [maximumByteCount] in
            let file = try LocalFile(path)
            guard file.size <= maximumByteCount else { throw Self.excess(of: path, file.size, maximumByteCount) }
            let limit = min(max(file.size + 1, 64 << 10), Self.pieceByteCount)
            return (file, try file.read(upTo: limit), limit)
        }
        var (piece, limit) = (first, firstLimit)
        let expected = file.size > 0 ? file.size : nil
        meter.mark(DownloadProgress(received: 0, expected: expected))
        sink.reserve(expected ?? 0)
        while !piece.isEmpty {
            guard piece.count <= maximumByteCount - sink.count else {
                throw Self.excess(of: path, sink.count + piece.count, maximumByteCount)
            }
            try await sink.append(piece)
            if piece.count < limit { break }
            meter.update(DownloadProgress(received: sink.count, expected: expected))
            limit = Self.pieceByteCount
            piece = try await files.run { [file, limit] in try file.read(upTo: limit) }
        }
        meter.mark(DownloadProgress(received: sink.count, expected: sink.count))
    }

    private static func excess(of path: String, _ count: Int, _ limit: Int) -> DownloadError {
        DownloadError(.tooLarge, "\(path) has \(count) bytes or more; the limit is \(limit)")
    }
}
