import Alcedo
import AlcedoRuntime
import FoundationEssentials

/// A signature that proves that the creator of a URL has the key.
///
/// The parameter `sig` is the HMAC-SHA256 of the path, a question mark, and all other parameters. The parameters are
/// sorted by name, decoded and encoded again in one form, so their order and spelling in the URL do not matter. The
/// signature is written in hexadecimal with lowercase letters. Other spellings of it are rejected, so that a list of
/// revoked signatures cannot be bypassed.
struct URLSignature: Sendable {
    static let name = "sig"
    /// The name of the optional parameter with the expiry of the URL, in seconds since 1970.
    static let expiry = "expires"
    static let minimumKeyLength = 16

    let key: [UInt8]

    /// Checks a signature. Returns the date until which the URL is valid; nil for no limit.
    ///
    /// - Throws: ``HTTPError`` 403 if the signature is missing or wrong, or if the expiry is invalid or in the past.
    @discardableResult
    func check(path: some StringProtocol, _ items: QueryItems, now: Date) throws(HTTPError) -> Date? {
        guard let item = items.item(Self.name), item.isPlain,
            HMACSHA256.isEqual(Array(item.value.utf8), Array(code(path: path, items).hexadecimal.utf8))
        else { throw HTTPError(403, "the signature is missing or wrong") }
        guard let expiry = items[Self.expiry] else { return nil }
        guard expiry.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int(expiry),
            Double(seconds) > now.timeIntervalSince1970
        else {
            throw HTTPError(403, "the signature has expired")
        }
        return Date(timeIntervalSince1970: Double(seconds))
    }

    /// Returns the target with its signature, which replaces a previous one. The parameters are sorted and encoded
    /// again.
    ///
    /// - Throws: ``HTTPError`` 400 if the query is invalid, 414 if it is too long.
    func signed(_ target: String) throws(HTTPError) -> String {
        let path = target.prefix { $0 != "?" }
        let items = try QueryItems(target[path.endIndex...].dropFirst())
        let code = code(path: path, items)
        return "\(path)?\(items.canonical(without: Self.name))&\(Self.name)=\(code.hexadecimal)"
    }

    private func code(path: some StringProtocol, _ items: QueryItems) -> [UInt8] {
        HMACSHA256.code(of: Array("\(path)?\(items.canonical(without: Self.name))".utf8), key: key)
    }
}

/// A message authentication code, which proves that the sender of a message has the key. Source: RFC 2104, FIPS 198-1.
enum HMACSHA256 {
    private static let blockSize = 64

    /// Returns the code of a message, 32 bytes.
    static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        let short = key.count > blockSize ? digest([key]) : key
        let block = short + [UInt8](repeating: 0, count: blockSize - short.count)
        let inner = digest([block.map { $0 ^ 0x36 }, message])
        return digest([block.map { $0 ^ 0x5C }, inner])
    }

    /// Whether two codes are equal. The time of the comparison does not depend on where they differ.
    static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func digest(_ parts: [[UInt8]]) -> [UInt8] {
        var digest = SHA256()
        for part in parts { digest.update(part) }
        return digest.finalize()
    }
}
