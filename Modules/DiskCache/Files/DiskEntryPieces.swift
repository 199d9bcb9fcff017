import AlcedoCore
public import FoundationEssentials

/// The data of an entry in pieces. Holds one at a time, and can be gone through again.
///
/// What was found stays readable while the entry is replaced or removed.
public struct DiskEntryPieces: AsyncSequence, Sendable {
    public typealias Element = Data

    fileprivate enum Source: Sendable {
        case memory(Data, pieceSize: Int)
        case file(EntryReader, BlockingExecutor)
    }

    private let source: Source
    /// Bytes of the data.
    public let count: Int
    public let metadata: Data
    public let expiry: Date?

    init(_ entry: CachedData, pieceSize: Int) {
        source = .memory(entry.data, pieceSize: pieceSize)
        count = entry.data.count
        metadata = entry.metadata
        expiry = entry.expiry
    }

    init(_ reader: EntryReader, executor: BlockingExecutor) {
        source = .file(reader, executor)
        count = reader.dataCount
        metadata = reader.metadata
        expiry = reader.expiry?.date
    }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source, count: count) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source
        fileprivate let count: Int
        private var offset = 0

        fileprivate init(source: Source, count: Int) {
            self.source = source
            self.count = count
        }

        /// - Throws: `DataCacheError` when somebody has cut the file short since it was verified; `CancellationError`.
        public mutating func next() async throws -> Data? {
            guard offset < count else { return nil }
            let start = offset
            switch source {
            case .memory(let data, let pieceSize):
                let piece = data.dropFirst(start).prefix(pieceSize)
                offset += piece.count
                return Data(piece)
            case .file(let reader, let executor):
                guard let piece = try await executor.run({ reader.piece(at: start) }) else {
                    throw DataCacheError(.failed, "the entry's file has been cut short")
                }
                offset += piece.count
                return piece
            }
        }
    }
}
