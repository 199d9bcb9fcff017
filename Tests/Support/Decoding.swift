package import AlcedoCore
package import Foundation

extension ImageDecoding {
    /// Returns the error of decoding, or nil.
    package func errorCode(
        _ data: Data, limits: DecodingLimits = DecodingLimits()
    ) -> ImageDecodingError.Code? {
        errorCode(data, options: DecodingOptions(limits: limits))
    }

    /// Returns the error of decoding, or nil.
    package func errorCode(_ data: Data, options: DecodingOptions) -> ImageDecodingError.Code? {
        do throws(ImageDecodingError) {
            _ = try decode(data, options: options)
            return nil
        } catch {
            return error.code
        }
    }
}

extension Bundle {
    /// Returns a file of the directory `Fixtures` of a test target.
    package func fixture(_ name: String) throws -> Data {
        guard let url = url(forResource: name, withExtension: nil, subdirectory: "Fixtures") else {
            throw CocoaError(.fileNoSuchFile)
        }
        return try Data(contentsOf: url)
    }
}
