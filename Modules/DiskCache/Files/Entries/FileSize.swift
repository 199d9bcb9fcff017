import AlcedoCore
import AlcedoLibc

/// The size of an entry's file.
struct FileSize: Equatable, Sendable {
    /// The number of its bytes.
    var length: Int
    /// The bytes that it occupies on the disk, which is what limits, listings and reports count.
    var occupied: Int

    init(length: Int, occupied: Int) {
        self.length = length
        self.occupied = occupied
    }

    init(_ status: stat) {
        length = Int(status.st_size)
        occupied = DiskUsage.byteCount(
            length: length, blocks: Int(status.st_blocks), blockSize: Int(status.st_blksize))
    }
}
