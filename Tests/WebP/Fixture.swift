import AlcedoCore
import AlcedoWebP
import Foundation
import TestSupport

/// Returns a file of the directory `Fixtures`.
func fixture(_ name: String) throws -> Data { try Bundle.module.fixture(name) }

/// Returns the error of decoding, or nil.
func errorCode(_ data: Data, limits: DecodingLimits = DecodingLimits()) -> ImageDecodingError.Code? {
    WebPDecoder().errorCode(data, limits: limits)
}
