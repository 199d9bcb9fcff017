import AlcedoLibc

/// A function from a sample, from 0 to 1, to light.
///
/// The functions of HDR give tone-mapped light, so that each consumer of the description gets an SDR image:
///
/// 1. The sample becomes luminance in cd/m²: PQ by its EOTF, and HLG by its inverse OETF and a system gamma of 1.2 for
///    a display of 1,000 cd/m² (ITU-R BT.2100).
/// 2. Luminance up to 1,000 cd/m² is compressed by the EETF of ITU-R BT.2390 to 203 cd/m², the reference white of
///    ITU-R BT.2408. Luminance below 88 cd/m² stays unchanged, and more than 1,000 cd/m² is clipped.
/// 3. 203 cd/m² is the white of the SDR image.
///
/// A curve can only be applied to red, green and blue separately, as BT.2390 permits, which changes the hue of bright
/// colors. Converters that recognize PQ and HLG multiply all three by one factor instead, by ``sourceLight(_:)``,
/// ``systemGamma`` and ``ToneMapping``. Both methods give equal grays.
package enum TransferFunction: Sendable, Hashable {
    /// (*a* *x* + *b*) to the power of *gamma* where *x* ≥ *d*, and *c* *x* below.
    case parametric(gamma: Double, a: Double, b: Double, c: Double, d: Double)
    /// The perceptual quantizer of SMPTE ST 2084.
    case pq
    /// Hybrid log-gamma of ITU-R BT.2100.
    case hlg

    /// The function of sRGB. Source: IEC 61966-2-1.
    package static let sRGB = parametric(gamma: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045)
    static let bt709 = parametric(gamma: 1 / 0.45, a: 1 / 1.099, b: 0.099 / 1.099, c: 1 / 4.5, d: 0.081)
    static let smpte240 = parametric(
        gamma: 1 / 0.45, a: 1 / 1.1115, b: 0.1115 / 1.1115, c: 1 / 4, d: 0.0912)

    /// Returns a power function. With a gamma of 1, light is proportional to the sample.
    package static func power(_ gamma: Double) -> Self { .parametric(gamma: gamma, a: 1, b: 0, c: 0, d: 0) }

    /// Creates the function of a code point, the inverse of the function that H.273 defines. Source: ITU-T H.273, table
    /// 3.
    init?(codePoint: UInt8) {
        switch codePoint {
        case 1, 6, 11, 12, 14, 15: self = .bt709
        case 2, 13: self = .sRGB
        case 4: self = .power(2.2)
        case 5: self = .power(2.8)
        case 7: self = .smpte240
        case 8: self = .power(1)
        case 16: self = .pq
        case 17: self = .parametric(gamma: 2.6, a: pow(52.37 / 48, 1 / 2.6), b: 0, c: 0, d: 0)
        case 18: self = .hlg
        default: return nil
        }
    }

    /// Returns the light of a sample, from 0 to 1.
    package func light(_ sample: Double) -> Double {
        switch self {
        case .parametric(let gamma, let a, let b, let c, let d):
            return min(1, sample >= d ? pow(max(0, a * sample + b), gamma) : c * sample)
        case .pq: return ToneMapping.light(sourceLight(sample))
        case .hlg: return ToneMapping.light(pow(sourceLight(sample), 1.2))
        }
    }

    /// The exponent that turns the light of gray into the luminance of a display; nil for SDR.
    package var systemGamma: Double? {
        switch self {
        case .parametric: nil
        case .pq: 1
        case .hlg: 1.2
        }
    }

    /// Returns the sample of PQ, from 0 to 1, for light of which 1 is the reference white, 203 cd/m².
    package static func pqSample(_ light: Double) -> Double { PQ.sample(light * ToneMapping.white) }

    /// Returns the light of a sample before the system gamma and the tone mapping. 1 becomes 1,000 cd/m². The light of
    /// PQ is at most 10, and that of HLG and SDR at most 1.
    package func sourceLight(_ sample: Double) -> Double {
        switch self {
        case .parametric: light(sample)
        case .pq: PQ.luminance(sample) / ToneMapping.sourcePeak
        case .hlg:
            sample <= 0.5 ? sample * sample / 3 : (exp((sample - 0.55991073) / 0.17883277) + 0.28466892) / 12
        }
    }
}

/// The tone mapping of HDR to SDR. Source: ITU-R BT.2390-11, section 5.4.1.
package enum ToneMapping {
    /// The luminance in cd/m² that becomes white. More is clipped.
    fileprivate static let sourcePeak = 1_000.0
    fileprivate static let white = 203.0
    private static let peak = PQ.sample(sourcePeak)
    private static let maximum = PQ.sample(white) / peak
    private static let knee = 1.5 * maximum - 0.5

    /// Returns the light of an SDR image, from 0 to 1, for the light of a display, of which 1 is 1,000 cd/m².
    package static func light(_ light: Double) -> Double {
        var sample = min(1, PQ.sample(light * sourcePeak) / peak)
        if sample > knee {
            let t = (sample - knee) / (1 - knee)
            let (t2, t3) = (t * t, t * t * t)
            sample =
                (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * maximum
        }
        return min(1, PQ.luminance(sample * peak) / white)
    }
}

/// The perceptual quantizer. Source: SMPTE ST 2084.
private enum PQ {
    private static let (m1, m2) = (2610.0 / 16384, 2523.0 / 4096 * 128)
    private static let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32)

    /// Returns the luminance of a sample in cd/m².
    static func luminance(_ sample: Double) -> Double {
        let v = pow(max(0, sample), 1 / m2)
        return 10_000 * pow(max(0, v - c1) / (c2 - c3 * v), 1 / m1)
    }

    /// Returns the sample of a luminance in cd/m².
    static func sample(_ luminance: Double) -> Double {
        let y = pow(max(0, luminance) / 10_000, m1)
        return pow((c1 + c2 * y) / (1 + c3 * y), m2)
    }
}
