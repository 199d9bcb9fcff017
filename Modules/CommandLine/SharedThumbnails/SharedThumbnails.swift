import Alcedo
import AlcedoCore
import AlcedoLibc
import AlcedoProgramSupport
import AlcedoRuntime
import FoundationEssentials

/// The directories of thumbnails that the programs of a desktop share. Its methods block. Source: the thumbnail
/// managing standard of freedesktop.org, version 0.9.0.
struct SharedThumbnails: Sendable {
    /// The names of the directories by the maximum number of pixels of a side.
    static let directories = [128: "normal", 256: "large", 512: "x-large", 1024: "xx-large"]
    /// The directory of records of files of which this version of the program could not make a thumbnail. Another
    /// version may be able to.
    private static let failures = "fail/alcedo-\(AlcedoVersion.text)"
    /// The maximum number of bytes of a thumbnail that is read.
    private static let byteLimit = 16 << 20

    /// The directory of all thumbnails, without a slash at its end.
    private let root: String

    /// Finds the directory below the user's cache directory. Throws ``OutputError`` if the environment names none.
    init() throws(OutputError) {
        guard let directory = ImagePipeline.Configuration.cacheDirectory(named: "thumbnails") else {
            throw OutputError(description: "--freedesktop needs XDG_CACHE_HOME or HOME, as an absolute path")
        }
        let path = directory.path(percentEncoded: false)
        root = path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Returns the path of the thumbnail of a file.
    ///
    /// - Precondition: `size` is one of ``directories``.
    func path(of file: ThumbnailSource, size: Int) -> String {
        "\(root)/\(Self.directories[size] ?? "normal")/\(file.name)"
    }

    private func failurePath(of file: ThumbnailSource) -> String { "\(root)/\(Self.failures)/\(file.name)" }

    /// Creates the directories of these sizes, which only the user can read. Throws ``OutputError`` if one cannot be
    /// created or written.
    func prepare(_ sizes: [Int]) throws(OutputError) {
        for directory in sizes.compactMap({ Self.directories[$0] }) {
            let path = "\(root)/\(directory)"
            try Self.create(path)
            if access(path, W_OK | X_OK) != 0 { throw OutputError(path: path, number: errno) }
        }
    }

    private static func create(_ directory: String) throws(OutputError) {
        if mkdir(directory, 0o700) == 0 || errno == EEXIST { return }
        let number = errno
        let parent = PathParts.directory(of: directory).dropLast()
        guard number == ENOENT, !parent.isEmpty else { throw OutputError(path: directory, number: number) }
        try create(String(parent))
        if mkdir(directory, 0o700) != 0, errno != EEXIST { throw OutputError(path: directory, number: errno) }
    }

    /// Whether a file is in these directories, also by a link. Such files have no thumbnails.
    func contains(_ file: ThumbnailSource) -> Bool {
        if file.path.hasPrefix(root + "/") { return true }
        guard let real = Self.realPath(file.path), let realRoot = Self.realPath(root) else { return false }
        return real.hasPrefix(realRoot + "/")
    }

    private static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Whether the thumbnail of a file is the current one.
    func hasThumbnail(of file: ThumbnailSource, size: Int) -> Bool { isCurrent(path(of: file, size: size), file) }

    /// Whether this program could not make a thumbnail of the current file.
    func hasFailure(of file: ThumbnailSource) -> Bool { isCurrent(failurePath(of: file), file) }

    /// Returns whether the image at a path belongs to the current file and is whole.
    private func isCurrent(_ path: String, _ file: ThumbnailSource) -> Bool {
        guard let descriptor = try? Descriptor(opening: path, O_RDONLY | O_NONBLOCK | O_NOCTTY),
            let length = try? descriptor.regularFileSize()?.length, length <= Self.byteLimit,
            let data = try? descriptor.read(length)?.prefix(length), data.suffix(8).starts(with: "IEND".utf8),
            let texts = try? PNGDecoder().inspect(data).metadata.texts
        else { return false }
        return file.isDescribed(by: texts)
    }

    /// Writes a thumbnail of a file, and removes the record of its failure. Returns the path. Throws ``OutputError``.
    func write(_ thumbnail: Data, of file: ThumbnailSource, size: Int) throws(OutputError) -> String {
        let path = path(of: file, size: size)
        try Self.write(thumbnail, to: path)
        unlink(failurePath(of: file))
        return path
    }

    /// Returns the encoder of thumbnails with these texts, and with the name of this program. The standard requires
    /// samples of 8 bits, which a palette does not have.
    static func encoder(_ texts: [String: String]) -> ImageEncoder {
        let software = ["Software": "alcedo \(AlcedoVersion.text)"]
        let metadata = ImageMetadata(texts: texts.merging(software) { own, _ in own })
        return .png(usesPaletteWhenLossless: false).embedding(metadata)
    }

    /// Records that no thumbnail of a file can be made, so that neither this program nor another one tries it again
    /// before the file changes. Throws ``OutputError`` or ``/AlcedoCore/ImageEncodingError``.
    func writeFailure(of file: ThumbnailSource) throws {
        guard let pixels = PixelBuffer(size: PixelSize(width: 1, height: 1), format: .rgba8, alphaMode: .straight)
        else { return }
        let path = failurePath(of: file)
        try Self.create(String(PathParts.directory(of: path).dropLast()))
        try Self.write(Self.encoder(file.texts).encode(DecodedImage(pixels: pixels)), to: path)
    }

    private static func write(_ data: Data, to path: String) throws(OutputError) {
        let file = try OutputFile(path: path, replaces: true, permissions: 0o600)
        try file.append(data)
        try file.finish()
    }
}

/// A file that has a thumbnail, as it was before it was read.
struct ThumbnailSource: Sendable {
    /// The absolute path, without `.`, `..` and repeated slashes. Links stay as they are.
    let path: String
    /// The canonical URI, in the spelling of GLib, on which the programs of desktops agree.
    let uri: String
    private let modificationTime: Int
    private let byteCount: Int

    /// Reads the time and the size of a file. Throws ``InputError`` if it is no regular file that can be accessed.
    init(_ path: String) throws(InputError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw InputError(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw InputError(description: "cannot read \(path): not a regular file")
        }
        self.init(
            path, in: FileManager.default.currentDirectoryPath, modificationTime: Int(status.st_mtim.tv_sec),
            byteCount: Int(status.st_size))
    }

    init(_ path: String, in directory: String, modificationTime: Int, byteCount: Int) {
        let slash = UInt8(ascii: "/")
        let absolute = path.utf8.first == slash ? path : "\(directory)/\(path)"
        var parts: [Substring.UTF8View] = []
        for part in absolute.utf8.split(separator: slash) {
            if part.elementsEqual("..".utf8) {
                _ = parts.popLast()
            } else if !part.elementsEqual(".".utf8) {
                parts.append(part)
            }
        }
        self.path = "/" + parts.map { String(Substring($0)) }.joined(separator: "/")
        uri = "file://" + self.path.utf8.percentEncoded { $0.isUnreserved || "!$&'()*+,/:=@".utf8.contains($0) }
        (self.modificationTime, self.byteCount) = (modificationTime, byteCount)
    }

    /// The name of the thumbnails.
    var name: String { "\(MD5.hexDigest(of: Array(uri.utf8))).png" }

    /// The texts of a thumbnail that identify the file and its state.
    var texts: [String: String] {
        ["Thumb::URI": uri, "Thumb::MTime": "\(modificationTime)", "Thumb::Size": "\(byteCount)"]
    }

    /// Whether the texts of a thumbnail identify the file in this state. The size is optional.
    func isDescribed(by texts: [String: String]) -> Bool {
        texts["Thumb::URI"] == uri && texts["Thumb::MTime"] == "\(modificationTime)"
            && ["\(byteCount)", nil].contains(texts["Thumb::Size"])
    }
}
