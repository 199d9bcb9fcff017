import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoRuntime
public import FoundationEssentials

extension LoopbackOrigin {
    /// Starts a server with one reply for each path, and 404 for other paths.
    ///
    /// A key with a query matches requests with exactly that query. A key without a query matches all requests for its
    /// path that no key with a query matches.
    ///
    /// - Throws: An error if the system provides no socket or no pipe.
    package convenience init(replies: [String: OriginReply]) throws {
        try self.init { request in
            replies[request.target] ?? replies[request.path] ?? .status(404)
        }
    }

    /// Starts a server for the regular files below a directory.
    ///
    /// The server responds to GET and HEAD, and to other methods with 405. It responds with 404 to all other paths,
    /// including symbolic links that lead out of the directory. Files are read completely, on the origin's thread. For
    /// a file of more than 256 MiB, the response is 500.
    ///
    /// - Parameters:
    ///   - directory: The directory of the files.
    ///   - validators: Whether responses carry an ETag and a Last-Modified field, and conditional requests receive 304
    ///     for an unchanged file (RFC 9110, section 13). Default: true.
    /// - Throws: An error if the directory does not exist, or if the system provides no socket or no pipe.
    public convenience init(directory: URL, validators: Bool = true) throws {
        let files = try OriginFiles(directory: directory, validators: validators)
        try self.init { files.reply(to: $0) }
    }
}

/// A handler that responds with the files below one directory.
private struct OriginFiles: Sendable {
    private static let sizeLimit = 256 << 20

    /// The path of the directory, without symbolic links and without a trailing slash.
    private let root: String
    private let validators: Bool

    init(directory: URL, validators: Bool) throws {
        guard let root = Self.resolve(directory.path) else { throw OriginError.last("realpath") }
        self.root = root == "/" ? "" : root
        self.validators = validators
    }

    func reply(to request: OriginRequest) -> OriginReply {
        guard [.get, .head].contains(request.method) else { return .status(405, fields: ["Allow": "GET, HEAD"]) }
        guard let path = file(for: request.path) else { return .status(404) }
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return .status(404) }
        guard information.st_size <= Self.sizeLimit else { return .status(500) }
        var fields: HTTPFields = ["Content-Type": Self.type(of: path)]
        if validators {
            let time = information.st_mtim
            fields["ETag"] = "\"\(String(time.tv_sec, radix: 16))-\(time.tv_nsec)-\(information.st_size)\""
            fields["Last-Modified"] = HTTPDate.format(Date(timeIntervalSince1970: TimeInterval(time.tv_sec)))
            if isFresh(request, fields) { return OriginReply(status: 304, fields: fields) }
        }
        guard let body = try? Data(contentsOf: URL(filePath: path)) else { return .status(404) }
        return OriginReply(fields: fields, body: body)
    }

    /// Returns the path of the file that a request names; nil if no such file exists below the directory.
    private func file(for path: String) -> String? {
        guard let bytes = path.utf8.percentDecoded(), !bytes.contains(0),
            let path = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard !parts.contains(".."), !parts.contains(".") else { return nil }
        // A symbolic link may lead out of the directory, so the resolved path is compared.
        guard let real = Self.resolve(root + "/" + parts.joined(separator: "/")) else { return nil }
        return real.hasPrefix(root + "/") ? real : nil
    }

    /// Whether the client's copy is current. If-None-Match takes precedence over If-Modified-Since (RFC 9110, section
    /// 13.2.2). Dates are compared as text, because a client returns the date that this server has sent.
    private func isFresh(_ request: OriginRequest, _ fields: HTTPFields) -> Bool {
        guard let tags = request.fields["If-None-Match"] else {
            return request.fields["If-Modified-Since"].map { $0 == fields["Last-Modified"] } ?? false
        }
        if tags == "*" { return true }
        guard let tag = fields["ETag"].flatMap({ EntityTag($0) }) else { return false }
        return EntityTag.list([tags]).contains { $0.matchesWeakly(tag) }
    }

    private static func resolve(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    private static func type(of path: String) -> String {
        let types = [
            "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
            "svg": "image/svg+xml", "html": "text/html; charset=utf-8", "txt": "text/plain; charset=utf-8",
            "json": "application/json",
        ]
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return "application/octet-stream" }
        return types[name[name.index(after: dot)...].lowercased()] ?? "application/octet-stream"
    }
}
