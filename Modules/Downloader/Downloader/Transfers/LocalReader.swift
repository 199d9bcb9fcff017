import AlcedoCore
import AlcedoHTTP
import AlcedoLibc
import AlcedoRuntime
import FoundationEssentials

/// A reader of sources that are not servers.
struct LocalReader: Sendable {
    /// The maximum number of bytes that are read from a file at once.
    private static let pieceByteCount = 1 << 20

    let maximumByteCount: Int
    private let progressInterval: Duration
    private let clock: any TimeSource
    private let files: BlockingExecutor

    init(configuration: DownloaderConfiguration, clock: any TimeSource) {
        files = BlockingExecutor(name: "alcedo.files", maxConcurrent: 2, taskExecutor: configuration.taskExecutor)
        (maximumByteCount, progressInterval) = (configuration.maximumByteCount, configuration.progressInterval)
        self.clock = clock
    }

    /// Writes the content of a source to an empty sink.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - sink: The empty sink.
    ///   - report: A closure that receives progress reports. Any thread may call it, and it must not block.
    /// - Throws: ``DownloadError``, or `CancellationError`.
    func read(
        _ source: ImageSource, into sink: inout some ContentSink,
        report: @escaping @Sendable (DownloadProgress) -> Void
    ) async throws {
        var meter = ProgressMeter(interval: progressInterval, clock: clock, report: report)
        switch source {
        case .http(let request):
            throw DownloadError(.invalidSource, "not a local source: \(request.url.shown)")
        case .url(let url): throw Self.unsupported(url)
        case .image, .imageProvider:
            throw DownloadError(.invalidSource, "\(source.shown) is already decoded and has no encoded data")
        case .file(let path): try await copy(path, into: &sink, &meter)
        case .dataURL(let text):
            try await pass(try await files.run { try DataURL.decode(text) }, of: source, to: &sink, &meter)
        case .bytes(let bytes, _): try await pass(bytes, of: source, to: &sink, &meter)
        case .provider(let identity, let provide):
            try await pass(try await provided(identity, provide), of: source, to: &sink, &meter)
        }
        guard sink.count > 0 else { throw DownloadError(.empty, "the data of \(source.shown) is empty") }
    }

    private func provided(_ identity: String, _ provide: @Sendable () async throws -> Data) async throws -> Data {
        do {
            return try await provide()
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let message = "the provider \(identity.excerpt) failed: \("\(error)".excerpt)"
            throw DownloadError(.provider, message, cause: error)
        }
    }

    private func pass(
        _ data: Data, of source: ImageSource, to sink: inout some ContentSink, _ meter: inout ProgressMeter
    ) async throws {
        guard data.count <= maximumByteCount else {
            throw DownloadError(
                .tooLarge,
                "the data of \(source.shown), \(data.count) bytes, exceeds the limit of \(maximumByteCount) bytes")
        }
        meter.mark(DownloadProgress(received: 0, expected: data.count))
        try await sink.append(data)
        meter.mark(DownloadProgress(received: data.count, expected: data.count))
    }

    /// Reads a file to its end. The number of bytes may differ from the size that the file declares.
    private func copy(_ path: String, into sink: inout some ContentSink, _ meter: inout ProgressMeter) async throws {
        // Reading one byte more than expected detects the end of the file.
        let (file, first, firstLimit) = try await files.run { [maximumByteCount] in
            let file = try LocalFile(path)
            guard file.size <= maximumByteCount else { throw Self.tooLarge(path, file.size, maximumByteCount) }
            let limit = min(max(file.size + 1, 64 << 10), Self.pieceByteCount)
            return (file, try file.read(upTo: limit), limit)
        }
        var (piece, limit) = (first, firstLimit)
        let expected = file.size > 0 ? file.size : nil
        meter.mark(DownloadProgress(received: 0, expected: expected))
        sink.reserve(expected ?? 0)
        while !piece.isEmpty {
            guard piece.count <= maximumByteCount - sink.count else {
                throw Self.tooLarge(path, sink.count + piece.count, maximumByteCount)
            }
            try await sink.append(piece)
            if piece.count < limit { break }
            meter.update(DownloadProgress(received: sink.count, expected: expected))
            limit = Self.pieceByteCount
            piece = try await files.run { [file, limit] in try file.read(upTo: limit) }
        }
        meter.mark(DownloadProgress(received: sink.count, expected: sink.count))
    }

    private static func unsupported(_ url: URL) -> DownloadError {
        let scheme = url.scheme?.lowercased() ?? ""
        let reason =
            switch scheme {
            case "": "it has no scheme"
            case "file": "the file URL names a remote host"
            default: "the scheme '\(scheme.excerpt)' is not supported"
            }
        return DownloadError(
            .unsupportedURL, "cannot load \(url.shown): \(reason); supported schemes: http, https, file, data")
    }

    private static func tooLarge(_ path: String, _ count: Int, _ limit: Int) -> DownloadError {
        DownloadError(
            .tooLarge,
            "cannot read \(path.excerpt): its size of at least \(count) bytes exceeds the limit of \(limit) bytes")
    }
}

/// A regular file that is read from its beginning. Methods block.
///
/// The descriptor never changes. Methods may be called from any thread, but not concurrently.
private final class LocalFile: Sendable {
    /// The declared size. Some kernel files declare zero, and a file may grow while it is read.
    let size: Int
    private let path: String
    private let file: Int32

    /// Opens a file without blocking, because opening a pipe or a device could block the thread forever.
    ///
    /// - Throws: ``DownloadError`` `invalidSource` or `unreadableFile`.
    init(_ path: String) throws(DownloadError) {
        // The system would end the path at the zero byte and open another file.
        guard !path.utf8.contains(0) else {
            throw DownloadError(
                .invalidSource, "cannot read \(path.excerpt.debugDescription): the path contains a zero byte")
        }
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else { throw Self.unreadable(path, errno) }
        var status = stat()
        let isThere = fstat(file, &status) == 0
        (self.path, self.file, size) = (path, file, Int(status.st_size))
        guard isThere else { throw Self.unreadable(path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DownloadError(.unreadableFile, "cannot read \(path.excerpt): not a regular file")
        }
    }

    deinit { close(file) }

    /// Reads the next bytes: `limit` of them, or fewer at the end of the file.
    ///
    /// - Throws: ``DownloadError`` `unreadableFile`.
    func read(upTo limit: Int) throws(DownloadError) -> Data {
        var data = Data(count: limit)
        var count = 0
        while count < limit {
            let received = data.withUnsafeMutableBytes {
                AlcedoLibc.read(file, $0.baseAddress.map { $0 + count }, limit - count)
            }
            if received < 0 {
                guard errno == EINTR else { throw Self.unreadable(path, errno) }
                continue
            }
            guard received > 0 else { break }
            count += received
        }
        data.count = count
        return data
    }

    private static func unreadable(_ path: String, _ number: Int32) -> DownloadError {
        DownloadError(.unreadableFile, "cannot read \(path.excerpt): \(String(cString: strerror(number)))")
    }
}

/// A decoder of `data:` URLs. Padding of base64 is optional, as in the "data: URL processor" of the WHATWG Fetch
/// Standard. Source: RFC 2397.
private enum DataURL {
    /// Returns the content of a `data:` URL.
    ///
    /// - Throws: ``DownloadError`` `invalidSource`.
    static func decode(_ text: String) throws(DownloadError) -> Data {
        guard text.prefix(5).lowercased() == "data:", let comma = text.firstIndex(of: ",") else {
            throw DownloadError(.invalidSource, "invalid data URL: it has no comma")
        }
        // The media type may be escaped. `URL` escapes the space in `data:image/png; base64,`, for example.
        let header = String(
            decoding: text[text.index(text.startIndex, offsetBy: 5)..<comma].utf8.percentDecodedLeniently(),
            as: UTF8.self)
        let isBase64 =
            header.split(separator: ";").dropFirst(header.hasPrefix(";") ? 0 : 1).last?
            .lowercased().filter { $0 != " " } == "base64"
        let unescaped = Data(text[text.index(after: comma)...].prefix { $0 != "#" }.utf8.percentDecodedLeniently())
        guard isBase64 else { return unescaped }
        var encoded = unescaped.filter { ![0x20, 0x09, 0x0A, 0x0C, 0x0D].contains($0) }
        // Padding is optional, but allowed only at the end; Foundation's decoder would accept it anywhere.
        let padding = UInt8(ascii: "=")
        if encoded.count % 4 == 0 { for _ in 0..<2 where encoded.last == padding { encoded.removeLast() } }
        let isWhole = encoded.count % 4 != 1 && !encoded.contains(padding)
        encoded += Data(repeating: padding, count: (4 - encoded.count % 4) % 4)
        guard isWhole, let data = Data(base64Encoded: encoded) else {
            throw DownloadError(.invalidSource, "invalid data URL: malformed base64")
        }
        return data
    }
}
