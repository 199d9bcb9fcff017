import AlcedoCore
import AlcedoHTTP
import AlcedoRuntime

/// The response to a Digest challenge. Sources: RFC 7616 section 3.4, and RFC 2069 for challenges without `qop`.
struct DigestResponse {
    private let scheme: AuthenticationChallenge.Scheme
    let algorithm: DigestAlgorithm
    private let realm: String
    private let nonce: String
    private let hasQuality: Bool

    /// Creates a response. Returns nil if the scheme is not Digest, has no realm or nonce, requires an unsupported
    /// algorithm, or has a `qop` without `auth`. A session algorithm without `qop` is not supported either.
    init?(_ scheme: AuthenticationChallenge.Scheme) {
        guard scheme.name == "digest", let realm = scheme.parameters["realm"],
            let nonce = scheme.parameters["nonce"],
            let algorithm = DigestAlgorithm(rawValue: scheme.parameters["algorithm"]?.lowercased() ?? "md5")
        else { return nil }
        if let quality = scheme.parameters["qop"] {
            let fields: HTTPFields = ["qop": quality]
            guard fields.list("qop", contains: "auth") else { return nil }
        }
        // The hash of a session algorithm contains the client's nonce, which is sent only together with `qop`.
        guard scheme.parameters["qop"] != nil || !algorithm.isSession else { return nil }
        (self.scheme, self.algorithm, self.realm, self.nonce) = (scheme, algorithm, realm, nonce)
        hasQuality = scheme.parameters["qop"] != nil
    }

    /// Returns the value of `Authorization`.
    ///
    /// - Parameters:
    ///   - user: The user name.
    ///   - password: The password.
    ///   - method: The method of the request.
    ///   - target: The path and query as they are sent.
    ///   - count: The number of requests that have used the nonce, including this one.
    ///   - clientNonce: The client's nonce.
    func field(
        user: String, password: String, method: String, target: String, count: Int, clientNonce: String
    ) -> String {
        let name = Array(user.utf8)
        var secret = algorithm.hash(name, wire(realm), Array(password.utf8))
        if algorithm.isSession { secret = algorithm.hash(secret, wire(nonce), wire(clientNonce)) }
        let request = algorithm.hash(wire(method), wire(target))
        let digits = String(count, radix: 16)
        let number = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
        let proof =
            hasQuality
            ? algorithm.hash(secret, wire(nonce), wire(number), wire(clientNonce), wire("auth"), request)
            : algorithm.hash(secret, wire(nonce), request)
        var parts = [
            userPart(name), "realm=\(quoted(realm))", "nonce=\(quoted(nonce))", "uri=\(quoted(target))",
            "response=\"\(String(decoding: proof, as: UTF8.self))\"",
        ]
        if let named = scheme.parameters["algorithm"] { parts.append("algorithm=\(named)") }
        if hasQuality { parts += ["qop=auth", "nc=\(number)", "cnonce=\(quoted(clientNonce))"] }
        if let opaque = scheme.parameters["opaque"] { parts.append("opaque=\(quoted(opaque))") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func userPart(_ name: [UInt8]) -> String {
        if scheme.parameters["userhash"]?.lowercased() == "true" {
            let hash = String(decoding: algorithm.hash(name, wire(realm)), as: UTF8.self)
            return "username=\"\(hash)\", userhash=true"
        }
        if name.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return "username=\(quoted(String(decoding: name, as: UTF8.self)))"
        }
        // Other names are encoded as in RFC 8187. Unreserved bytes need no escape there.
        return "username*=UTF-8''\(name.percentEncoded(except: \.isUnreserved))"
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// Returns the bytes of a text: its ISO-8859-1 encoding if there is one, otherwise its UTF-8 encoding.
    private func wire(_ text: String) -> [UInt8] { text.latin1 ?? Array(text.utf8) }
}

/// The hash algorithms of Digest authentication. Source: RFC 7616 section 3.4.2.
enum DigestAlgorithm: String {
    case sha256 = "sha-256"
    case sha256Session = "sha-256-sess"
    case md5 = "md5"
    case md5Session = "md5-sess"

    /// Whether the secret (A1 in the RFC) contains the nonces of server and client.
    var isSession: Bool { self == .sha256Session || self == .md5Session }

    /// The strength for comparison; a greater number is stronger.
    var strength: Int { self == .sha256 || self == .sha256Session ? 1 : 0 }

    /// Joins the parts with colons, and returns the hash of the result as lowercase hexadecimal digits.
    func hash(_ parts: [UInt8]...) -> [UInt8] {
        let message = Array(parts.joined(separator: [UInt8(ascii: ":")]))
        guard strength > 0 else { return Array(MD5.hexDigest(of: message).utf8) }
        var hash = SHA256()
        hash.update(message)
        return Array(hash.finalizedHexadecimal().utf8)
    }
}

/// The MD5 digest, which Digest authentication still requires. It is not secure: collisions are easy to find.
///
/// Source: RFC 1321, section 3.
enum MD5 {
    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// The integer part of 2^32 × |sin(*i*)| for each *i* from 1 to 64, in radians.
    private static let table: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]

    /// Returns the digest as 32 lowercase hexadecimal digits.
    static func hexDigest(of message: [UInt8]) -> String {
        let tail = [0x80] + [UInt8](repeating: 0, count: (119 - message.count % 64) % 64)
        let padded = message + tail + bytes(of: UInt64(message.count) &* 8)
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        for start in stride(from: 0, to: padded.count, by: 64) { add(padded[start..<(start + 64)], to: &state) }
        let digits = Array("0123456789abcdef".utf8)
        let text = state.flatMap { bytes(of: $0) }.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    private static func add(_ block: ArraySlice<UInt8>, to state: inout [UInt32]) {
        let words = (0..<16).map { word in
            let bytes = block.dropFirst(word * 4).prefix(4)
            return bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mixed, word): (UInt32, Int) =
                switch step / 16 {
                case 0: (b & c | ~b & d, step)
                case 1: (d & b | ~d & c, (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), 7 * step % 16)
                }
            let sum = a &+ mixed &+ table[step] &+ words[word]
            let shift = shifts[step / 16 * 4 + step % 4]
            (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
        }
        state = zip(state, [a, b, c, d]).map { $0 &+ $1 }
    }

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
