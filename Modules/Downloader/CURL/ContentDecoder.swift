import AlcedoHTTP
private import CCURLShim

/// A decoder of the content codings of one body. It is used only on the loop's thread.
///
/// Source: RFC 9110 section 8.4. Names that are not content codings occur on the web (`aws-chunked` of Amazon S3,
/// `UTF-8`, `binary`). As in browsers, they have no effect on the body.
final class ContentDecoder {
    /// The codings that are requested from servers, in the form of `Accept-Encoding`.
    static let supportedCodings =
        [
            ("gzip", ALCEDO_CURL_GZIP), ("deflate", ALCEDO_CURL_DEFLATE), ("br", ALCEDO_CURL_BROTLI),
            ("zstd", ALCEDO_CURL_ZSTD),
        ]
        .filter { alcedo_curl_decodes($0.1) != 0 }.map(\.0).joined(separator: ", ")

    private let decoder: OpaquePointer
    /// The number of bytes at the beginning of the next piece that the decoder has already read. A piece whose decoded
    /// bytes were refused is passed again.
    private var readCount = 0

    /// Creates the decoder of a response; nil if its body is not encoded.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `invalidResponse` if the body has more than four codings, or
    ///   `failed` without memory.
    init?(_ head: HTTPResponseHead) throws(HTTPTransportError) {
        let codings = head.fields.values(of: "Content-Encoding").flatMap { $0.split(separator: ",") }
            .compactMap { Self.coding($0.trimmingBlanks.lowercased()) }
        guard !codings.isEmpty else { return nil }
        guard codings.count <= 4 else {
            throw HTTPTransportError(.invalidResponse, "the body of \(head.url.shown) has \(codings.count) codings")
        }
        // The last coding was applied last.
        let order = Array(codings.reversed())
        guard let decoder = alcedo_curl_decoder_create(order, order.count) else {
            throw HTTPTransportError(.failed, "no memory for decoding the body of \(head.url.shown)")
        }
        self.decoder = decoder
    }

    deinit { alcedo_curl_decoder_destroy(decoder) }

    private static func coding(_ name: String) -> alcedo_curl_coding? {
        let coding: alcedo_curl_coding
        switch name {
        case "gzip", "x-gzip": coding = ALCEDO_CURL_GZIP
        case "deflate": coding = ALCEDO_CURL_DEFLATE
        case "br": coding = ALCEDO_CURL_BROTLI
        case "zstd": coding = ALCEDO_CURL_ZSTD
        default: return nil
        }
        return alcedo_curl_decodes(coding) != 0 ? coding : nil
    }

    /// Decodes a piece and passes the decoded bytes to `write`, at most 64 KiB at a time. Returns false as soon as
    /// `write` refuses its bytes. The whole piece must then be passed again later, and the bytes that `write` has
    /// accepted are not repeated.
    ///
    /// - Throws: ``/AlcedoHTTP/HTTPTransportError`` `invalidResponse` if the bytes are damaged, or the error of
    ///   `write`.
    func decode(
        _ piece: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer) throws(HTTPTransportError) -> Bool
    ) throws(HTTPTransportError) -> Bool {
        let skipped = min(readCount, piece.count)
        readCount -= skipped
        guard let base = piece.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return true }
        alcedo_curl_decoder_feed(decoder, base + skipped, piece.count - skipped)
        while true {
            var bytes: UnsafePointer<UInt8>?
            var count = 0
            switch alcedo_curl_decoder_read(decoder, &bytes, &count) {
            case ALCEDO_CURL_CODING_MORE: break
            case ALCEDO_CURL_CODING_NO_MEMORY: throw HTTPTransportError(.failed, "no memory for decoding a body")
            default: throw HTTPTransportError(.invalidResponse, "the encoded body is damaged")
            }
            guard count > 0 else { return true }
            guard try write(UnsafeRawBufferPointer(start: bytes, count: count)) else {
                readCount += piece.count - alcedo_curl_decoder_unread(decoder)
                return false
            }
            alcedo_curl_decoder_advance(decoder)
        }
    }
}
