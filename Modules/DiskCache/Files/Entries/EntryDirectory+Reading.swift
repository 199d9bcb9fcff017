import AlcedoCore
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

extension EntryDirectory {
    /// The number of bytes of a file that are read and hashed at a time. A block fits the second-level cache of
    /// processors of the last ten years.
    private static let blockSize = 128 << 10

    /// Opens the file of an entry and determines its size, without reading the file.
    func open(_ name: EntryName, suffix: [UInt8]? = nil) -> Opening {
        do throws(SystemError) {
            let descriptor = try openFile(name, suffix, in: openDirectory())
            guard let size = try descriptor.regularFileSize(), size.length >= EntryTrailer.size else { return .damaged }
            return .open(descriptor, size: size)
        } catch {
            return switch error.number {
            case ENOENT, ENOTDIR: .absent
            // A symbolic link, a socket or a device is in place of the file, or a symbolic link in place of its
            // directory.
            case ELOOP, ENXIO, ENODEV: .damaged
            default: .unavailable(error)
            }
        }
    }

    enum Opening: ~Copyable {
        case open(Descriptor, size: FileSize)
        case absent
        case damaged
        /// The file may be whole, but cannot be opened now, for example because the process has no descriptors left.
        case unavailable(SystemError)

        /// Returns the open file, or nil if the file is absent or damaged. Throws the error if the file is unavailable.
        consuming func file() throws(SystemError) -> OpenFile? {
            switch consume self {
            case .open(let descriptor, let size): return OpenFile(descriptor: descriptor, size: size)
            case .absent: return nil
            case .damaged: return nil
            case .unavailable(let error): throw error
            }
        }
    }

    struct OpenFile: ~Copyable {
        let descriptor: Descriptor
        let size: FileSize
    }

    /// Reads and verifies an entry.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - key: The key of the entry.
    ///   - isMapped: Whether the data is mapped into memory instead of copied.
    func read(_ name: EntryName, key: ImageKey, isMapped: Bool) -> Reading {
        switch open(name) {
        case .absent: .absent
        case .damaged: .damaged
        case .unavailable: .unavailable
        case .open(let descriptor, let size):
            Self.read(descriptor, size, key, isMapped: isMapped)
        }
    }

    /// Reads and verifies an entry of a known size in an open directory. Reads the whole file at once, without checking
    /// the trailer first. A file of another length counts as damaged. A file that is missing, or cannot be opened or
    /// read, counts as unavailable.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - key: The key of the entry.
    ///   - size: The size of the file.
    ///   - directory: The cache's directory.
    ///   - waits: Whether to wait for the disk. If false, a file that is not in the system's memory counts as
    ///     unavailable. The default is true.
    func read(
        _ name: EntryName, key: ImageKey, size: FileSize, in directory: borrowing Descriptor, waits: Bool = true
    ) -> Reading {
        do throws(SystemError) {
            return try Self.copy(openFile(name, in: directory, waits: waits), size, key, waits: waits)
        } catch {
            return .unavailable
        }
    }

    private static func read(
        _ descriptor: borrowing Descriptor, _ size: FileSize, _ key: ImageKey, isMapped: Bool
    ) -> Reading {
        do throws(SystemError) {
            guard try hasTrailer(descriptor, size.length) else { return .damaged }
            return isMapped ? try map(descriptor, size, key) : try copy(descriptor, size, key)
        } catch {
            return .unavailable
        }
    }

    /// Returns whether a file ends with a valid trailer for its size. The caller checks the trailer first, and only
    /// then allocates memory for the whole file, because a file may have any size.
    private static func hasTrailer(_ descriptor: borrowing Descriptor, _ size: Int) throws(SystemError) -> Bool {
        let end = try descriptor.read(EntryTrailer.size, at: size - EntryTrailer.size)
        return end?.withBytes { EntryTrailer($0, fileSize: size) } != nil
    }

    private static func copy(
        _ descriptor: borrowing Descriptor, _ size: FileSize, _ key: ImageKey, waits: Bool = true
    ) throws(SystemError) -> Reading {
        var hash: UInt64 = 0
        guard let bytes = try readAll(descriptor, size.length, waits: waits, &hash),
            let (trailer, metadata) = bytes.withBytes({ verify($0, key: key, hash: hash) })
        else { return .damaged }
        return .valid(
            CachedData(bytes.prefix(trailer.dataCount), metadata: metadata, expiry: trailer.expiry?.date),
            storedAt: trailer.storedAt, size: size)
    }

    /// Reads all bytes of a file of `count` bytes, and sets `hash` to the hash of the bytes before the checksum.
    /// Returns nil if the file has another length.
    ///
    /// Hashes a large file block by block, while the block that was just copied is in the processor's cache.
    private static func readAll(
        _ descriptor: borrowing Descriptor, _ count: Int, waits: Bool, _ hash: inout UInt64
    ) throws(SystemError) -> FileBytes? {
        let hashedCount = max(0, count - EntryTrailer.checksumSize)
        guard count > blockSize else {
            guard let bytes = try descriptor.readAll(count, waits: waits) else { return nil }
            hash = bytes.withBytes { XXH3.hash($0.extracting(first: hashedCount)) }
            return bytes
        }
        let blocks = try XXH3()
        var rest = hashedCount
        let bytes = try descriptor.readAll(count, blockSize: blockSize, waits: waits) { block in
            let added = min(rest, block.byteCount)
            blocks.update(block.extracting(first: added))
            rest -= added
        }
        hash = blocks.value
        return bytes
    }

    private static func map(
        _ descriptor: borrowing Descriptor, _ size: FileSize, _ key: ImageKey
    ) throws(SystemError) -> Reading {
        let length = size.length
        let memory = try descriptor.map(length)
        let file = UnsafeRawBufferPointer(start: memory, count: length)
        guard let (trailer, metadata) = verify(file.bytes, key: key) else {
            munmap(memory, length)
            return .damaged
        }
        let data = Data(
            bytesNoCopy: memory, count: trailer.dataCount, deallocator: .custom { start, _ in munmap(start, length) })
        return .valid(
            CachedData(data, metadata: metadata, expiry: trailer.expiry?.date), storedAt: trailer.storedAt, size: size)
    }

    private static func verify(
        _ file: RawSpan, key: ImageKey, hash: UInt64? = nil
    ) -> (EntryTrailer, metadata: Data)? {
        guard let trailer = EntryFile.verify(file, hash: hash) else { return nil }
        let attributes = file.extracting(trailer.dataCount..<trailer.dataCount + trailer.attributesCount)
        guard EntryFile.attributes(attributes, of: trailer, belongTo: key) else { return nil }
        return (trailer, EntryFile.metadata(attributes, of: trailer))
    }

    /// Reads and verifies an entry. Returns the entry with its key. Returns nil if the file is absent or damaged, or if
    /// the name of the key in the file differs from `name`.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - suffix: The path extension of the file if it differs from the cache's.
    /// - Throws: The reason why the file cannot be read now.
    func verifiedEntry(
        _ name: EntryName, suffix: [UInt8]? = nil
    ) throws(SystemError) -> VerifiedEntry? {
        guard let file = try open(name, suffix: suffix).file(),
            try Self.hasTrailer(file.descriptor, file.size.length),
            let bytes = try file.descriptor.read(file.size.length)
        else { return nil }
        let size = file.size
        let found = bytes.withBytes { file -> (EntryTrailer, ImageKey, metadata: Data)? in
            guard let trailer = EntryFile.verify(file) else { return nil }
            let attributes = file.extracting(trailer.dataCount..<trailer.dataCount + trailer.attributesCount)
            guard let key = EntryFile.key(attributes, of: trailer), EntryName(key) == name else { return nil }
            return (trailer, key, EntryFile.metadata(attributes, of: trailer))
        }
        guard let (trailer, key, metadata) = found else { return nil }
        let entry = CachedData(
            bytes.prefix(trailer.dataCount), metadata: metadata, expiry: trailer.expiry?.date)
        return VerifiedEntry(key: key, entry: entry, storedAt: trailer.storedAt, size: size)
    }

    /// Returns a summary of an entry's file, or nil if the file is absent or not an entry. Reads only the trailer and
    /// the resource's name, and does not verify the checksum.
    ///
    /// - Parameters:
    ///   - name: The name of the entry.
    ///   - suffix: The path extension of the file if it differs from that of the name.
    /// - Throws: The reason why the file cannot be read now.
    func summary(_ name: EntryName, suffix: [UInt8]? = nil) throws(SystemError) -> Summary? {
        guard let file = try open(name, suffix: suffix).file() else { return nil }
        let size = file.size
        let end = try file.descriptor.read(EntryTrailer.size, at: size.length - EntryTrailer.size)
        guard let trailer = end?.withBytes({ EntryTrailer($0, fileSize: size.length) }) else { return nil }
        let resource = try file.descriptor.read(trailer.resourceCount, at: trailer.dataCount)
        let found = resource?.withBytes { bytes in
            (hash: XXH64.hash(bytes), number: bytes.withUnsafeBytes { paths.suffixNumber(ofResource: $0) })
        }
        guard let found else { return nil }
        return Summary(trailer: trailer, size: size, resourceHash: found.hash, suffixNumber: found.number)
    }

    /// Returns the metadata of an entry, or nil if the file is absent or not an entry of the key. Reads only the bytes
    /// after the data, and does not verify the checksum.
    ///
    /// - Throws: The reason why the file cannot be read now.
    func metadata(_ name: EntryName, key: ImageKey) throws(SystemError) -> Data? {
        guard let file = try open(name).file() else { return nil }
        let length = file.size.length
        let end = try file.descriptor.read(EntryTrailer.size, at: length - EntryTrailer.size)
        guard let trailer = end?.withBytes({ EntryTrailer($0, fileSize: length) }),
            let attributes = try file.descriptor.read(trailer.attributesCount, at: trailer.dataCount)
        else { return nil }
        return attributes.withBytes { attributes in
            guard EntryFile.attributes(attributes, of: trailer, belongTo: key) else { return nil }
            return EntryFile.metadata(attributes, of: trailer)
        }
    }

    /// Returns the length of an entry's file and its modification date in seconds since 1970. Returns nil if there is
    /// no regular file, or if the system reports an error.
    func lengthAndDate(of name: EntryName) -> (length: Int, written: Double)? {
        guard let directory = try? openDirectory(), let shard = try? openShard(of: name, in: directory) else {
            return nil
        }
        let found: stat? = paths.withFileName(name) { shard.status(of: $0) }
        guard let status = found, status.st_mode & S_IFMT == S_IFREG else { return nil }
        // Integers could overflow, because a file may have any date.
        return (Int(status.st_size), Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
    }

    /// Returns whether anything has the name of the entry's file. Also returns true if this cannot be determined, or if
    /// a symbolic link is in place of the entry's directory.
    func contains(_ name: EntryName) -> Bool {
        do throws(SystemError) {
            let shard = try openShard(of: name, in: openDirectory())
            return paths.withFileName(name) { shard.kind(of: $0) != nil || errno != ENOENT && errno != ENOTDIR }
        } catch {
            return error.number != ENOENT && error.number != ENOTDIR
        }
    }
}

/// The open file of a verified entry. The file stays readable even if the entry is replaced or removed.
final class EntryReader: Sendable {
    let metadata: Data
    let storedAt: Timestamp
    let expiry: Timestamp?
    let dataCount: Int
    let chunkSize: Int
    private let descriptor: Descriptor

    /// Verifies a file, reading its data one chunk at a time. Returns nil if the file is not a whole entry of `key`.
    init?(
        _ descriptor: consuming Descriptor, size: Int, key: ImageKey, expiry: Timestamp?, chunkSize: Int
    ) throws(SystemError) {
        guard let end = try descriptor.read(EntryTrailer.size, at: size - EntryTrailer.size),
            let trailer = end.withBytes({ EntryTrailer($0, fileSize: size) }),
            let attributes = try descriptor.read(trailer.attributesCount, at: trailer.dataCount),
            attributes.withBytes({ EntryFile.attributes($0, of: trailer, belongTo: key) })
        else { return nil }
        let hash = try XXH3()
        for start in stride(from: 0, to: trailer.dataCount, by: chunkSize) {
            let count = min(chunkSize, trailer.dataCount - start)
            guard let piece = try descriptor.read(count, at: start) else { return nil }
            piece.withBytes { hash.update($0) }
        }
        attributes.withBytes { hash.update($0) }
        end.withBytes { hash.update($0.extracting(first: EntryTrailer.checksumOffset)) }
        guard end.withBytes({ EntryFile.checksum($0) }) == hash.value else { return nil }
        metadata = attributes.withBytes { EntryFile.metadata($0, of: trailer) }
        dataCount = trailer.dataCount
        storedAt = trailer.storedAt
        self.expiry = expiry
        self.chunkSize = chunkSize
        self.descriptor = descriptor
    }

    /// Returns the chunk at `offset`, or nil if the file was truncated before the end of the chunk.
    func chunk(at offset: Int) throws(SystemError) -> Data? {
        let count = min(chunkSize, dataCount - offset)
        return try descriptor.read(count, at: offset)?.prefix(count)
    }
}
