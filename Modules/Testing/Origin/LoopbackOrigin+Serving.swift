public import FoundationEssentials

extension LoopbackOrigin {
    /// Serves one reply a path; 404 elsewhere. A key with a query answers that query only, one without answers any.
    ///
    /// - Throws: ``OriginError`` when the system gives no socket.
    public convenience init(
        options: OriginOptions = OriginOptions(), replies: [String: OriginReply]
    ) throws {
        try self.init(options: options) { request in
            replies[request.target] ?? replies[request.path] ?? .status(404)
        }
    }

    /// Serves the regular files below a directory by GET and HEAD; 405 for other methods, 404 for anything else, links that
    /// lead out of it included. Files are read on the origin's thread, whole; of more than 256 MiB the answer is 500.
    ///
    /// - Parameters:
    ///   - options: Its limits.
    ///   - directory: Where the files are.
    ///   - validators: Whether answers carry an ETag and a Last-Modified, and conditional requests are answered 304
    ///     (RFC 9110 section 13). Default: yes.
    /// - Throws: ``OriginError`` when the directory does not exist, or the system gives no socket.
    public convenience init(
        options: OriginOptions = OriginOptions(), directory: URL, validators: Bool = true
    ) throws {
        let files = try OriginFiles(directory: directory, validators: validators)
        try self.init(options: options) { files.reply(to: $0) }
    }
}
