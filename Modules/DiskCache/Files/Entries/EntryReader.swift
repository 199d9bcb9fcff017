import AlcedoCore
import FoundationEssentials

/// The open file of an entry that has been verified. It can be read though the entry is replaced or removed.
final class EntryReader: Sendable {
    let metadata: Data
    let storedAt: Timestamp
    let expiry: Timestamp?
    let dataCount: Int
    let pieceSize: Int
    private let descriptor: Descriptor

    /// Reads all of the file once, a piece at a time; nil when it is no whole entry of `key`.
    init?(
        _ descriptor: consuming Descriptor, size: Int, key: ImageKey, expiry: Timestamp?, pieceSize: Int
    ) throws(SystemRefusal) {
        guard let end = try descriptor.read(EntryTrailer.size, at: size - EntryTrailer.size),
            let trailer = end.withBytes({ EntryTrailer($0, fileSize: size) }),
            let notes = try descriptor.read(trailer.notesCount, at: trailer.dataCount),
            notes.withBytes({ EntryFile.notes($0, of: trailer, belongTo: key) })
        else { return nil }
        var hash = XXH64(seed: end.withBytes { EntryFile.seed($0) })
        for start in stride(from: 0, to: trailer.dataCount, by: pieceSize) {
            let count = min(pieceSize, trailer.dataCount - start)
            guard let piece = try descriptor.read(count, at: start) else { return nil }
            piece.withBytes { hash.update($0) }
        }
        let isRight = end.withBytes { end in
            notes.withBytes { EntryFile.checksum(end, notes: $0, dataHash: hash.value) }
        }
        guard isRight else { return nil }
        metadata = notes.withBytes { EntryFile.metadata($0, of: trailer) }
        dataCount = trailer.dataCount
        storedAt = trailer.storedAt
        self.expiry = expiry
        self.pieceSize = pieceSize
        self.descriptor = descriptor
    }

    /// The piece that begins at `offset`; nil when the file has been cut short.
    func piece(at offset: Int) throws(SystemRefusal) -> Data? {
        let count = min(pieceSize, dataCount - offset)
        return try descriptor.read(count, at: offset)?.prefix(count)
    }
}
