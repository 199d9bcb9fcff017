import AlcedoCore
import CLittleCMSShim
import FoundationEssentials

/// A conversion from one profile to one color space.
///
/// `@unchecked` because of the pointer. No lock is needed: the object behind it does not change until `deinit`.
final class ColorTransform: @unchecked Sendable {
    /// The parameters of a conversion.
    struct Key {
        /// The ICC profile, or nil for sRGB.
        var profile: Data?
        var space: OutputColorSpace
        /// The number of bits per sample.
        var depth: Int
        var compensatesBlackPoint: Bool
    }

    let source: alcedo_color_space
    /// Whether no sample changes by more than one 8-bit level.
    let isIdentity: Bool
    private let transform: OpaquePointer

    init(_ key: Key) throws(ColorConversionError) {
        var status = ALCEDO_COLOR_OK
        var message = [CChar](repeating: 0, count: Int(ALCEDO_COLOR_MESSAGE_SIZE))
        // An empty profile has no address, which would stand for sRGB.
        guard key.profile?.isEmpty != true else {
            throw ColorConversionError(.invalidProfile, "color: the profile is empty")
        }
        let profile = key.profile ?? Data()
        let tones = ToneTables(profile: profile, depth: key.depth)
        let made = profile.withUnsafeBytes { bytes in
            var settings = alcedo_color_settings()
            settings.profile = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            settings.profile_size = bytes.count
            if bytes.isEmpty { settings.profile = nil }
            settings.target = key.space == .displayP3 ? ALCEDO_COLOR_DISPLAY_P3 : ALCEDO_COLOR_SRGB
            settings.depth = Int32(key.depth)
            settings.compensates_black_point = key.compensatesBlackPoint ? 1 : 0
            guard let tones else { return alcedo_color_create(&settings, &status, &message) }
            return tones.apply(to: &settings) { alcedo_color_create(&$0, &status, &message) }
        }
        guard let made else {
            let text = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            throw ColorConversionError(Self.code(status), "color: \(text.isEmpty ? "out of memory" : text)")
        }
        transform = made
        source = alcedo_color_source(made)
        isIdentity = alcedo_color_is_identity(made) != 0
    }

    deinit { alcedo_color_destroy(transform) }

    /// Converts pixels of four samples in place.
    func convert(_ pixels: UnsafeMutableRawBufferPointer, pixelCount: Int) {
        guard let base = pixels.baseAddress, pixelCount > 0 else { return }
        alcedo_color_convert(transform, base, pixelCount)
    }

    /// Converts 8-bit gray samples in place.
    func convertGray(_ samples: UnsafeMutableRawBufferPointer) {
        guard let base = samples.baseAddress else { return }
        alcedo_color_convert_gray(transform, base.assumingMemoryBound(to: UInt8.self), samples.count)
    }

    /// Converts 16-bit gray samples in place.
    func convertDeepGray(_ row: UnsafeMutableRawBufferPointer) {
        let samples = row.assumingMemoryBound(to: UInt16.self)
        // A piece of pixels with equal red, green and blue, which stays in the first-level cache.
        withUnsafeTemporaryAllocation(of: SIMD4<UInt16>.self, capacity: 256) { piece in
            var start = 0
            while start < samples.count {
                let count = min(piece.count, samples.count - start)
                for x in 0..<count {
                    let sample = samples[start + x]
                    piece.initializeElement(at: x, to: SIMD4(sample, sample, sample, .max))
                }
                convert(UnsafeMutableRawBufferPointer(piece), pixelCount: count)
                for x in 0..<count { samples[start + x] = piece[x].y }
                start += count
            }
        }
    }

    private static func code(_ status: alcedo_color_status) -> ColorConversionError.Code {
        switch status {
        case ALCEDO_COLOR_OUT_OF_MEMORY: .outOfMemory
        case ALCEDO_COLOR_UNSUPPORTED: .unsupportedProfile
        default: .invalidProfile
        }
    }
}
