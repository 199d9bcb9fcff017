/// The worst damage that a decoder found in a file and tolerated: see ``DecodedImage/damage``.
public struct ImageDamage: Sendable, Equatable, CustomStringConvertible {
    /// The effect on the pixels.
    public var kind: DamageTolerance
    /// The error that decoding throws when ``DecodingOptions/tolerance`` is lower than the kind.
    public var error: ImageDecodingError

    /// Creates a description of damage. Decoders outside this package use this initializer too.
    public init(_ kind: DamageTolerance, _ error: ImageDecodingError) {
        self.kind = kind
        self.error = error
    }

    /// A one-sentence description for logs.
    public var message: String { error.message }

    /// The ``message``.
    public var description: String { message }

    /// Returns the damage of the worse kind; the first one when both have the same kind, and nil when both are nil.
    package static func worst(_ first: ImageDamage?, _ second: ImageDamage?) -> ImageDamage? {
        guard let first, let second else { return first ?? second }
        return second.kind > first.kind ? second : first
    }
}
