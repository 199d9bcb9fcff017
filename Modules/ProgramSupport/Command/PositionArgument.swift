package import AlcedoProcessing

/// Positions of a smaller rectangle in a larger one, as command lines and queries name them.
package enum PositionArgument {
    /// The positions with a name.
    package static let names: [String: ImageProcessors.Anchor] = [
        "centre": .center, "center": .center, "top": .top, "bottom": .bottom, "left": .left, "right": .right,
        "topLeft": .topLeft, "topRight": .topRight, "bottomLeft": .bottomLeft, "bottomRight": .bottomRight,
        "smart": .smart,
    ]

    /// Returns the position that a text names, or the focal point of two percentages of the width and the height, such
    /// as `30,20.5`. Returns nil for another text.
    package static func position(_ text: String) -> ImageProcessors.Anchor? {
        if let anchor = names[text] { return anchor }
        let shares = text.split(separator: ",", omittingEmptySubsequences: false).map {
            PlainNumber.parse($0, in: 0...100)
        }
        guard shares.count == 2, let x = shares[0], let y = shares[1] else { return nil }
        return .focus(x: x / 100, y: y / 100)
    }
}

/// Decimal numbers without an exponent.
package enum PlainNumber {
    /// Returns the number that a text of digits, signs and dots denotes, or nil if it is none in the range.
    package static func parse(_ text: some StringProtocol, in range: ClosedRange<Double>) -> Double? {
        // `Double` would also accept "1e3", "0x10" and "inf".
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x2D }
        guard isPlain, let number = Double(text), range.contains(number) else { return nil }
        return number
    }
}
