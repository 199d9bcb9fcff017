import Foundation
import TestSupport

/// Returns a file of the directory `Fixtures`.
func fixture(_ name: String) throws -> Data { try Bundle.module.fixture(name) }
