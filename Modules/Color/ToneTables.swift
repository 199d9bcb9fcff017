import AlcedoCore
import CLittleCMSShim
import FoundationEssentials

/// The tables with which the tones of PQ and HLG are mapped to SDR. The hue stays.
struct ToneTables {
    /// The light of each sample. More than 1 is clipped.
    private let light: [Float]
    /// The factors for light from 0 to 1, at equal steps of its square root.
    private let factors: [Float]
    private let systemGamma: Double

    /// Returns nil unless the profile describes RGB samples and declares PQ or HLG by code points.
    init?(profile: Data, depth: Int) {
        guard ICCProfile.describes(gray: false, profile),
            let description = ColorDescription(codePointsOf: profile),
            let systemGamma = description.transfer.systemGamma
        else { return nil }
        let (last, steps) = (Double((1 << depth) - 1), Double(ALCEDO_COLOR_TONE_STEPS))
        light = (0..<1 << depth).map {
            Float(description.transfer.sourceLight(description.fullRange(Double($0) / last)))
        }
        // The factor is constant below the knee, so that the first one can be that of a little light.
        factors = (0...Int(ALCEDO_COLOR_TONE_STEPS)).map {
            let root = max(1, Double($0)) / steps
            return Float(ToneMapping.light(root * root) / (root * root))
        }
        self.systemGamma = systemGamma
    }

    /// Calls a function with settings that refer to the tables, which are valid only during the call.
    func apply<R>(to settings: inout alcedo_color_settings, _ body: (inout alcedo_color_settings) -> R) -> R {
        light.withUnsafeBufferPointer { light in
            factors.withUnsafeBufferPointer { factors in
                settings.light = light.baseAddress
                settings.tone_factors = factors.baseAddress
                settings.system_gamma = systemGamma
                return body(&settings)
            }
        }
    }
}
