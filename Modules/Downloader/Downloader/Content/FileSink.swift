import AlcedoCore
import FoundationEssentials

/// Writes a content to a file, which appears whole and at once, or not at all.
struct FileSink: ContentSink {
    private let threads: BlockingExecutor
    private let file: UnfinishedFile
    private(set) var count = 0
    private(set) var beginning = Data()

    private init(path: String, threads: BlockingExecutor) async throws {
        self.threads = threads
        file = try await threads.run { try UnfinishedFile(for: path) }
    }

    /// Makes a file of what `fill` puts into the sink, or none at all.
    ///
    /// - Throws: ``DownloadError`` `unwritableFile`, `CancellationError`, or what `fill` throws.
    static func write(
        _ path: String, threads: BlockingExecutor, _ fill: (inout FileSink) async throws -> SourceEnd
    ) async throws -> Delivery {
        var sink = try await FileSink(path: path, threads: threads)
        do {
            let end = try await fill(&sink)
            try await threads.run { [file = sink.file] in try file.moveIntoPlace() }
            return Delivery(byteCount: sink.count, end: end)
        } catch {
            await sink.discard()
            throw error
        }
    }

    mutating func append(_ piece: Data) async throws {
        try await threads.run { [file] in try file.append(piece) }
        count += piece.count
        beginning.append(piece.prefix(max(0, CodecRegistry.sniffedByteCount - beginning.count)))
    }

    func reserve(_ count: Int) {}

    mutating func removeAll() async throws {
        guard count > 0 else { return }
        try await threads.run { [file] in try file.removeAll() }
        (count, beginning) = (0, Data())
    }

    /// Removes what was written, in a cancelled task too.
    private func discard() async {
        await Task { [threads, file] in
            // Refused only where it could be cancelled.
            try? await threads.run { file.discard() }
        }.value
    }
}
