/// A calculation of the disk space that a file occupies.
package enum DiskUsage {
    /// The unit of `st_blocks`, which does not depend on the block size of the file system. Source: stat(2).
    private static let blockUnit = 512
    /// The maximum block size to which a length is rounded up. A network file system may report its transfer size,
    /// which can be megabytes.
    private static let largestBlock = 64 << 10

    /// Returns the number of bytes that a file system has allocated for a file.
    ///
    /// A file system may report fewer bytes than the file contains, because it compresses data, delays allocation (ZFS,
    /// NFS), or stores a small file with its metadata (Btrfs). In this case, the result is the length rounded up to
    /// whole blocks, so that it is never less than the space that the file may later occupy.
    ///
    /// - Parameters:
    ///   - length: The length of the file, in bytes: `st_size`.
    ///   - blocks: The number of allocated units of 512 bytes: `st_blocks`.
    ///   - blockSize: The block size of the file system, in bytes: `st_blksize`.
    package static func byteCount(length: Int, blocks: Int, blockSize: Int) -> Int {
        let (allocated, isOver) = blocks.multipliedReportingOverflow(by: blockUnit)
        if isOver { return .max }
        guard allocated < length else { return allocated }
        let block = min(max(blockSize, blockUnit), largestBlock)
        let rest = length % block
        return rest == 0 ? length : length > .max - block ? .max : length - rest + block
    }
}
