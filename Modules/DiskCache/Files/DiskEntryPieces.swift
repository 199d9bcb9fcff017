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
    /// The notes that were stored with the data.
    public let metadata: Data
    /// When the entry ends; nil when it has no expiry of its own.
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

    /// Reads the pieces in order.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source
        fileprivate let count: Int
        private var offset = 0

        fileprivate init(source: Source, count: Int) {
            self.source = source
            self.count = count
        }

        /// - Throws: `DataCacheError` when somebody has cut the file short since it was verified, or the system cannot read
        ///   it now; `CancellationError`.
        public mutating func next() async throws -> Data? {
            guard offset < count else { return nil }
            let start = offset
            switch source {
            case .memory(let data, let pieceSize):
                let piece = data.dropFirst(start).prefix(pieceSize)
                offset += piece.count
                return Data(piece)
            case .file(let reader, let executor):
                let piece = try await executor.run { () throws(DataCacheError) in try Self.read(reader, at: start) }
                offset += piece.count
                return piece
            }
        }

        private static func read(_ reader: EntryReader, at offset: Int) throws(DataCacheError) -> Data {
            do throws(SystemRefusal) {
                if let piece = try reader.piece(at: offset) { return piece }
            } catch {
                throw error.cacheError("read the file of an entry in")
            }
            throw DataCacheError(.failed, "the entry's file has been cut short")
        }
    }
}
