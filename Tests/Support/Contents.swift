package import AlcedoCore
package import FoundationEssentials

/// Returns the key of a resource or of its variant.
package func key(_ name: String, variant: String = "") -> ImageKey { ImageKey(ResourceKey(name), variant: variant) }

/// Returns varying bytes.
package func bytes(_ count: Int, seed: Int = 0) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 + seed) &* 131 >> 3) })
}
