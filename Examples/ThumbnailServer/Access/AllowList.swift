/// The origins that pictures may come from.
struct AllowList: Sendable {
    /// None: any.
    var patterns: [OriginPattern] = []

    /// - Throws: ``Refusal`` 403.
    func check(_ source: SourceURL) throws(Refusal) {
        guard patterns.isEmpty || patterns.contains(where: { $0.matches(source) }) else { throw Self.refusal }
    }

    static let refusal = Refusal(403, "pictures are not fetched from there")
}
