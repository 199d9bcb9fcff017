/// How often transfers may begin.
public struct DownloadRate: Sendable, Hashable {
    /// On the average.
    public var perSecond: Double
    /// At once, after a rest.
    public var burst: Int

    /// A number of beginnings in a second, and how many of them may come at once.
    public init(perSecond: Double, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}
