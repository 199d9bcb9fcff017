public import AlcedoCore

/// A processor that is equal to others of its type with the same identifier, which says all there is to say.
public protocol HashableByIdentifier: ImageProcessing, Hashable {}

extension HashableByIdentifier {
    public static func == (a: Self, b: Self) -> Bool { a.identifier == b.identifier }

    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}
