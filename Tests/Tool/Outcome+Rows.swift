import TestSupport

extension Program.Outcome {
    /// Returns the words of the table's lines for this image.
    func rows(_ name: String) -> [[String]] {
        output.split(separator: "\n").filter { $0.hasSuffix("  \(name)") }
            .map { $0.split(separator: " ").map(String.init) }
    }
}
