/// How long a run took, in the words of a summary.
public struct RunTime: Sendable {
    private let seconds: Double

    public init(_ duration: Duration) { seconds = max(duration / .seconds(1), 0.001) }

    public var text: String { "\(Self.hundredths(seconds)) s" }

    /// The time, and how many images a second that is.
    public func text(for count: Int) -> String {
        "\(text), \(Self.hundredths(Double(count) / seconds)) images a second"
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
