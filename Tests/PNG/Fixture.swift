import AlcedoCore
import AlcedoPNG
import Foundation
import TestSupport

/// A file of the folder `Fixtures`.
func fixture(_ name: String) throws -> Data { try Bundle.module.fixture(name) }

/// How decoding fails; nil when it does not.
func errorCode(_ data: Data, limits: DecodingLimits = DecodingLimits()) -> ImageDecodingError.Code? {
    PNGDecoder().errorCode(data, limits: limits)
}
