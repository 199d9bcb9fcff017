import AlcedoLibc
package import FoundationEssentials

/// An input that is read as a whole: a list, a key or password file, or an image on standard input.
package enum InputFile {
    /// Returns the contents of a file, or of standard input for the path `-`. Blocks.
    ///
    /// - Parameters:
    ///   - path: The path of the file, or `-`.
    ///   - limit: The maximum number of bytes.
    ///   - name: The name of the input in errors. Default: the path, or `standard input` for `-`.
    ///   - isSecret: Whether a file that users other than its owner can read or write is refused. The group may read a
    ///     file that belongs to root, who has selected the group, as container systems do. Default: false.
    /// - Throws: ``InputError`` if the input cannot be read, is refused, or has more than `limit` bytes.
    package static func read(
        _ path: String, limit: Int, name: String? = nil, isSecret: Bool = false
    ) throws(InputError) -> Data {
        let name = name ?? (path == "-" ? "standard input" : path)
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw InputError(name, errno) }
        defer { if file != STDIN_FILENO { close(file) } }
        if isSecret {
            var status = stat()
            guard fstat(file, &status) == 0 else { throw InputError(name, errno) }
            let refused = S_IROTH | S_IWOTH | S_IWGRP | (status.st_uid == 0 ? 0 : S_IRGRP)
            // A pipe or a device has no contents that others could read later.
            guard status.st_mode & S_IFMT != S_IFREG || status.st_mode & refused == 0 else {
                throw InputError(
                    description: "cannot use \(name): other users can read or write it; run 'chmod go-rw' on it")
            }
        }
        var data = Data()
        var piece = Data(count: 1 << 16)
        while true {
            let count = piece.withUnsafeMutableBytes { AlcedoLibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputError(name, errno) }
            guard count > 0 else { return data }
            data += piece.prefix(count)
            guard data.count <= limit else {
                throw InputError(description: "cannot read \(name): it exceeds the limit of \(limit) bytes")
            }
        }
    }
}

/// A failure to read an input, such as a list, a key file, a cache directory, or an image on standard input.
package struct InputError: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }

    /// Creates the error of a failed system call.
    ///
    /// - Parameters:
    ///   - name: The name of the input.
    ///   - number: The value of `errno`.
    package init(_ name: String, _ number: Int32) {
        self.init(description: "cannot read \(name): \(String(cString: strerror(number)))")
    }
}
