import AlcedoLibc
package import FoundationEssentials

/// What is read as a whole before the work begins: a list, an image on standard input.
package enum InputFile {
    /// Most bytes of an image, as of a download.
    static let imageLimit = 128 << 20
    /// Most bytes of a list: a million long names.
    static let listLimit = 256 << 20

    /// The bytes of a file; `-` is standard input. Blocks. Throws ``InputError``.
    package static func read(_ path: String, limit: Int) throws(InputError) -> Data {
        let name = path == "-" ? "standard input" : path
        let file = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else { throw InputError(name, errno) }
        defer { if file != STDIN_FILENO { close(file) } }
        var data = Data()
        var piece = Data(count: 1 << 16)
        while true {
            let count = piece.withUnsafeMutableBytes { AlcedoLibc.read(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw InputError(name, errno) }
            guard count > 0 else { return data }
            data += piece.prefix(count)
            guard data.count <= limit else {
                throw InputError(description: "cannot read \(name): it has more than \(limit) bytes")
            }
        }
    }
}

/// Something that images are named in, or that is one, and that cannot be read.
package struct InputError: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }

    /// - Parameter number: That of the system.
    package init(_ name: String, _ number: Int32) {
        self.init(description: "cannot read \(name): \(String(cString: strerror(number)))")
    }
}
