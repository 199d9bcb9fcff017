import AlcedoCore
import AlcedoWebP
import Foundation

/// How decoding fails; nil when it does not.
func errorCode(_ data: Data, limits: DecodingLimits = DecodingLimits()) -> ImageDecodingError.Code? {
    do throws(ImageDecodingError) {
        _ = try WebPDecoder().decode(data, options: DecodingOptions(limits: limits))
        return nil
    } catch {
        return error.code
    }
}
