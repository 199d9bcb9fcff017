import AlcedoCore
import AlcedoRuntime
package import FoundationEssentials

/// The data of an entry as a sequence of chunks. Usually, an iterator reads the chunks from the entry's file, one at a
/// time. If the entry is still being stored, or had to be checked again, the whole data is in memory. Each iterator
/// starts at the beginning of the data.
///
/// The data stays readable even if the entry is replaced or removed.
package struct DiskEntryChunks: AsyncSequence, Sendable {
    package typealias Element = Data

    fileprivate enum Source: Sendable {
        case memory(Data, chunkSize: Int)
        case file(EntryReader, BlockingExecutor)
    }

    private let source: Source
    /// The number of bytes in the data.
    package let count: Int
    /// The metadata that was stored with the data.
    package let metadata: Data
    /// The entry's own expiration date, or nil if the entry has none.
    package let expiry: Date?

    init(_ entry: CachedData, chunkSize: Int) {
        source = .memory(entry.data, chunkSize: chunkSize)
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

    package func makeAsyncIterator() -> Iterator { Iterator(source: source, count: count) }

    /// An iterator that reads the chunks in order.
    package struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source
        fileprivate let count: Int
        private var offset = 0

        fileprivate init(source: Source, count: Int) {
            self.source = source
            self.count = count
        }

        /// Returns the next chunk, or nil at the end of the data.
        ///
        /// - Throws: `DataCacheError` if the chunk cannot be read from the file, for example because the file was
        ///   truncated; `CancellationError` if the task is canceled before the chunk is read from the file.
        package mutating func next() async throws -> Data? {
            guard offset < count else { return nil }
            let start = offset
            switch source {
            case .memory(let data, let chunkSize):
                let chunk = data.dropFirst(start).prefix(chunkSize)
                offset += chunk.count
                return Data(chunk)
            case .file(let reader, let executor):
                let chunk = try await executor.run { () throws(DataCacheError) in try Self.read(reader, at: start) }
                offset += chunk.count
                return chunk
            }
        }

        private static func read(_ reader: EntryReader, at offset: Int) throws(DataCacheError) -> Data {
            do throws(SystemError) {
                if let chunk = try reader.chunk(at: offset) { return chunk }
            } catch {
                throw error.cacheError("read the file of an entry in")
            }
            throw DataCacheError(.failed, "the entry's file was truncated while it was read")
        }
    }
}
