import TestSupport

extension Program.Outcome {
    /// The words of the table's lines that name this image.
    func rows(_ name: String) -> [[String]] {
        output.split(separator: "\n").filter { $0.hasSuffix("  \(name)") }
            .map { $0.split(separator: " ").map(String.init) }
    }
}
