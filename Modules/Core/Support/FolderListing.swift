import Glibc

/// The names in a folder, without `.` and `..`.
package enum FolderListing {
    /// Calls `body` with each name. A folder that is not to be had has none, nor has a link to one, unless it is followed.
    package static func forEachName(
        in folder: String, followsLink: Bool = false, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW)
        let descriptor = open(folder, flags)
        guard descriptor >= 0 else { return }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return
        }
        defer { closedir(stream) }
        // The name ends where its zero byte is: an entry is shorter than its type, and must not be copied as one.
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
        while let entry = readdir(stream) {
            let name = (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: UInt8.self)
            let bytes = UnsafeBufferPointer(
                start: name, count: strlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)))
            if !bytes.elementsEqual([0x2E]), !bytes.elementsEqual([0x2E, 0x2E]) { body(bytes) }
        }
    }

    package static func names(in folder: String, followsLink: Bool = false) -> [String] {
        var names: [String] = []
        forEachName(in: folder, followsLink: followsLink) { names.append(String(decoding: $0, as: UTF8.self)) }
        return names
    }
}
