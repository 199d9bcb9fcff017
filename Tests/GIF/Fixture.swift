import Foundation
import TestSupport

/// A file of the folder `Fixtures`.
func fixture(_ name: String) throws -> Data { try Bundle.module.fixture(name) }
