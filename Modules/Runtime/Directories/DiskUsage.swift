/// Computes how much of a disk a file occupies.
package enum DiskUsage {
    /// The unit of `st_blocks`, whatever the file system's blocks are. Source: stat(2).
    private static let blockUnit = 512
    /// The largest block that a length is rounded up to: a network file system may give its transfer size, megabytes.
    private static let largestBlock = 64 << 10

    /// Returns the bytes that a file system has allocated for a file.
    ///
    /// A file system may tell fewer than the file has: it compresses, has not allocated yet (ZFS, NFS), or keeps the bytes of
    /// a small file with its metadata (Btrfs). The length, rounded up to whole blocks, then counts, so that the result is
    /// never less than what the file may come to occupy.
    ///
    /// - Parameters:
    ///   - length: Of the file, in bytes: `st_size`.
    ///   - blocks: Allocated units of 512 bytes: `st_blocks`.
    ///   - blockSize: Of the file system, in bytes: `st_blksize`.
    package static func byteCount(length: Int, blocks: Int, blockSize: Int) -> Int {
        let (allocated, isOver) = blocks.multipliedReportingOverflow(by: blockUnit)
        if isOver { return .max }
        guard allocated < length else { return allocated }
        let block = min(max(blockSize, blockUnit), largestBlock)
        let rest = length % block
        return rest == 0 ? length : length > .max - block ? .max : length - rest + block
    }
}
