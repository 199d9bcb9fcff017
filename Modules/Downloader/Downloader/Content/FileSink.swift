import AlcedoCore
import FoundationEssentials

/// Writes a content to a file, which appears whole and at once, or not at all.
struct FileSink: ContentSink {
    private let threads: BlockingExecutor
    private let file: UnfinishedDownload
    private(set) var count = 0
    private(set) var beginning = Data()

    /// - Throws: ``DownloadError`` `unwritableFile`, or `CancellationError`.
    init(path: String, threads: BlockingExecutor) async throws {
        self.threads = threads
        file = try await threads.run { try UnfinishedDownload(for: path) }
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

    /// Gives the file its place. Throws as ``append(_:)``.
    func finish() async throws { try await threads.run { [file] in try file.moveIntoPlace() } }

    /// Removes what was written, in a cancelled task too.
    func discard() async {
        await Task { [threads, file] in
            // Refused only where it could be cancelled.
            try? await threads.run { file.discard() }
        }.value
    }
}
