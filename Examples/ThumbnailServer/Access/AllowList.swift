import Alcedo

/// The origins that pictures may come from.
struct AllowList: Sendable {
    /// None: any.
    var patterns: [OriginPattern] = []

    /// - Throws: ``Refusal`` 403.
    func check(_ source: SourceURL) throws(Refusal) {
        guard patterns.isEmpty || patterns.contains(where: { $0.matches(source) }) else { throw Self.refusal }
    }

    /// Names what may come from these origins, redirects too, and from no others; equal for equal lists.
    var scope: String {
        let names = Set(patterns.map(\.description)).sorted()
        return names.isEmpty ? "" : ";from:\(SHA256.hexDigest(of: names.joined(separator: " ")))"
    }

    static let refusal = Refusal(403, "pictures are not fetched from there")
}
