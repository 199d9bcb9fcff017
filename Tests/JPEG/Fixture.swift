import AlcedoCore
import AlcedoJPEG
import Foundation
import TestSupport

/// Returns a file of the directory `Fixtures`.
func fixture(_ name: String) throws -> Data { try Bundle.module.fixture(name) }

/// Returns the error of decoding, or nil.
func errorCode(_ data: Data, limits: DecodingLimits = DecodingLimits()) -> ImageDecodingError.Code? {
    JPEGDecoder().errorCode(data, limits: limits)
}

/// Returns opaque RGBA of the samples in a `.raw` fixture, which has one or three per pixel.
func reference(_ name: String, channels: Int = 3) throws -> [UInt8] {
    let samples = Array(try fixture(name))
    return stride(from: 0, to: samples.count, by: channels).flatMap { pixel in
        (0..<3).map { samples[pixel + min($0, channels - 1)] } + [255]
    }
}
