/// How much a data cache keeps, and for how long.
public struct DataCacheLimits: Sendable, Hashable {
    /// What the age of an entry is counted from.
    public enum AgeBasis: Sendable, Hashable {
        /// When it was last read or stored.
        case lastUse
        /// When it was stored, however often it is read.
        case storing
    }

    /// The maximum number of bytes that the entries occupy. A cache on disk counts the blocks that the file system has
    /// allocated for them, not the lengths of their files. Zero or less stores nothing.
    public var size: Int
    /// Most entries. Nought or less stores nothing.
    public var count: Int
    /// How long an entry lives that has no expiry of its own; nil for ever. An entry of a date in the future counts as used
    /// now: nothing ends because a clock went back, or came forward again.
    public var age: Duration?
    /// What ``age`` is counted from.
    public var ageBasis: AgeBasis
    /// Whether a read of an entry with an expiry of its own moves that on by the time since its last use. Where the clock goes
    /// back, the expiry stays until it has come as far again; only a last use of more than a year ahead is not believed, and
    /// taken back with the expiry.
    public var extendsExpiryOnUse: Bool
    /// The share of the limits that a trim leaves, from nought to 1: a trim that left all of it would be needed again at
    /// once.
    public var trimTarget: Double

    /// - Parameters:
    ///   - size: In bytes. Default: 256 MiB.
    ///   - count: Default: no limit of its own.
    ///   - age: Default: seven days, as Kingfisher and SDWebImage have it.
    ///   - ageBasis: Default: the last use.
    ///   - extendsExpiryOnUse: Default: false.
    ///   - trimTarget: Default: nine tenths. Kingfisher leaves a half, Nuke seven tenths.
    public init(
        size: Int = 256 << 20, count: Int = .max, age: Duration? = .seconds(7 * 24 * 60 * 60),
        ageBasis: AgeBasis = .lastUse, extendsExpiryOnUse: Bool = false, trimTarget: Double = 0.9
    ) {
        self.size = size
        self.count = count
        self.age = age
        self.ageBasis = ageBasis
        self.extendsExpiryOnUse = extendsExpiryOnUse
        self.trimTarget = trimTarget
    }

    /// Bytes that a trim leaves at most.
    public var sizeAfterTrim: Int { Self.share(trimTarget, of: size) }

    /// Entries that a trim leaves at most.
    public var countAfterTrim: Int { Self.share(trimTarget, of: count) }

    private static func share(_ share: Double, of whole: Int) -> Int {
        guard !(share >= 1), whole > 0 else { return max(0, whole) }
        // A share that is no number leaves nothing.
        guard share > 0 else { return 0 }
        return Int(exactly: (Double(whole) * share).rounded(.down)) ?? whole
    }
}
