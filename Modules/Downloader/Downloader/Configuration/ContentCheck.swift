public import AlcedoCore
import AlcedoHTTP
public import FoundationEssentials

/// Tells by the first bytes of a content whether it is what was wanted, whatever its name and type say.
public struct ContentCheck: Sendable {
    /// Most bytes that a check looks at.
    package static let byteCount = CodecRegistry.sniffedByteCount

    private let accepts: @Sendable (Data) -> Bool

    /// - Parameter accepts: Gets the first bytes, as many as codecs are recognized by, or all when there are fewer. Must not block.
    public init(_ accepts: @escaping @Sendable (_ beginning: Data) -> Bool) { self.accepts = accepts }

    /// Accepts the formats of a registry.
    public init(_ codecs: CodecRegistry) { self.init { codecs.entry(for: $0) != nil } }

    /// - Throws: ``DownloadError`` `unexpectedContent`.
    func verify(_ beginning: Data, head: HTTPResponseHead) throws(DownloadError) {
        guard !accepts(Data(beginning.prefix(Self.byteCount))) else { return }
        let type = head.fields["Content-Type"].map { ", which it calls \($0)" } ?? ""
        throw DownloadError(
            .unexpectedContent, "\(head.url.shown) gives something else than was expected\(type)", head: head)
    }
}
