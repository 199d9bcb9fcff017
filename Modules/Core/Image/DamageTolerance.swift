/// A scale of the damage in files. A step of it is the most damage that a caller tolerates, or the kind of an
/// ``ImageDamage``.
///
/// ```swift
/// let strict = try CodecRegistry.standard.decode(data, options: DecodingOptions(tolerance: .harmless))
/// let lenient = try CodecRegistry.standard.decode(data, options: DecodingOptions(tolerance: .missingPixels))
/// if let damage = lenient.damage { print(damage.kind, damage.message) }
/// ```
///
/// A file with more damage than a step allows is an error. Each step allows the damage of the steps before it.
public enum DamageTolerance: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Only defects that change no pixel of the image. Every decoder tolerates them.
    ///
    /// Examples are a missing end mark, a wrong checksum of correct pixels, an unusable profile or unusable metadata,
    /// a broken later frame, which ends the animation before it, and a broken auxiliary image, such as the alpha of an
    /// AVIF or HEIF file, without which the image is opaque. Damage in the pixels of a later frame is found when the
    /// frame is requested: see ``ImageFrameSource/damage``.
    case harmless
    /// Wrong pixels: every row was decoded, but from data that was damaged in part. The default.
    ///
    /// The alpha of WebP counts as such data, because it is a part of the image and not an image of its own.
    case wrongPixels
    /// Missing pixels: the data ends early or cannot be decoded to the end, so the image is partial.
    case missingPixels

    /// Returns whether the first step allows less damage than the second.
    public static func < (a: DamageTolerance, b: DamageTolerance) -> Bool { a.rawValue < b.rawValue }
}
