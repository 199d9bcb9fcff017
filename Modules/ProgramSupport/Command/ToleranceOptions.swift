package import AlcedoCore

/// The options that select which damaged images are accepted.
package struct ToleranceOptions: Sendable {
    /// The most damage of a file that still gives an image. Default: wrong pixels.
    package private(set) var tolerance = DamageTolerance.wrongPixels

    package init() {}

    /// Parses an option. Returns false if the option belongs to another group. Throws ``UsageError`` if both options
    /// are given.
    package mutating func take(_ option: String) throws -> Bool {
        let selected: DamageTolerance
        switch option {
        case "--partial": selected = .missingPixels
        case "--strict": selected = .harmless
        default: return false
        }
        guard tolerance == .wrongPixels || tolerance == selected else {
            throw UsageError("--partial cannot be combined with --strict")
        }
        tolerance = selected
        return true
    }
}

extension ImageDamage {
    /// The damage in words: its kind and its description.
    package var text: String {
        switch kind {
        case .harmless: "damaged, but no pixel is wrong: \(message)"
        case .wrongPixels: "some pixels may be wrong: \(message)"
        case .missingPixels: "pixels are missing: \(message)"
        }
    }

    /// The name of the kind in machine-readable output: `harmless`, `wrongPixels` or `missingPixels`.
    package var kindName: String { "\(kind)" }
}
